"""A fit tells how far it is while it runs: a bar in a notebook or on a terminal, lines elsewhere.

Fits are nested, as that of a classifier which fits columns and then an SVM, and the loops that take time are deep
inside. So a loop tells what it has done to whatever fit is under way, by :func:`step`, and need not know who began it.
Only the outermost fit shows anything, and only if its ``verbose`` is not 0. How long is left is forecast from the steps
of the same kind so far. Between two steps, or where a fit has none, :func:`pass_over_rows` tells how much of the rows
has been read.

From scikit-learn 1.9 on the same steps are tasks of its callbacks (``model.set_callbacks(ProgressBar())``), which also
see them from within searches and pipelines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar, cast

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for what this version of scikit-learn does not have."""

    def with_callbacks(method):
        """Return the method as it is, because there are no callbacks."""
        return method


Method = TypeVar("Method", bound=Callable[..., Any])

# Lines are no nearer to each other than so many seconds, but for the last of a kind.
LINE_SECONDS = 1.0
# Within a pass a display changes no more often than this: a block may take less than a millisecond.
PASS_SECONDS = 0.1

_under_way: ContextVar[Reporter | None] = ContextVar("isrht_fit_under_way", default=None)


def shows_progress(fit: Method) -> Method:
    """Let a ``fit`` method show how far it is, if ``verbose`` of the estimator asks for it."""

    @wraps(fit)
    def fit_and_show(self, *args, **kwargs):
        check_verbose(self.verbose)
        with fit_under_way(type(self).__name__, self.verbose, _Tasks.of(self)):
            return fit(self, *args, **kwargs)

    return cast(Method, with_callbacks(fit_and_show))


class _Tasks:
    """The steps of a fit as tasks of scikit-learn's callbacks."""

    def __init__(self, estimator):
        self.estimator, self.fit = estimator, estimator._init_callback_context(max_subtasks=None)
        self.fit.call_on_fit_task_begin(estimator=estimator)

    @classmethod
    def of(cls, estimator):
        """Return the tasks of an estimator that was given callbacks, or None."""
        return cls(estimator) if getattr(estimator, "_skl_callbacks", None) else None

    def step(self, what):
        task = self.fit.subcontext(task_name=what).call_on_fit_task_begin(estimator=self.estimator)
        task.call_on_fit_task_end(estimator=self.estimator)

    def close(self):
        self.fit.call_on_fit_task_end(estimator=self.estimator)


def check_verbose(verbose):
    """Raise an error unless ``verbose`` is a truth value or a number that is not negative."""
    if not isinstance(verbose, Integral) or verbose < 0:
        raise ValueError(f"verbose must be 0, for silence, or 1, got {verbose!r}")


@contextmanager
def fit_under_way(title, verbose, tasks=None):
    """Show the steps of what happens in this context, unless it is part of a fit that shows its own."""
    if (not verbose and tasks is None) or _under_way.get() is not None:
        yield
        return
    reporter = Reporter(title, display_for_here() if verbose else Silence(), tasks=tasks)
    token = _under_way.set(reporter)
    try:
        yield
    finally:
        _under_way.reset(token)
        reporter.close()


def step(what, done, total):
    """Tell the fit that is under way, if it wants to know, that so many steps of a kind have been done."""
    reporter = _under_way.get()
    if reporter is not None:
        reporter.step(what, done, total)


def pass_over_rows(done, total):
    """Tell the fit that is under way, if it wants to know, how many of the rows the present pass has seen."""
    reporter = _under_way.get()
    if reporter is not None:
        reporter.pass_over_rows(done, total)


class Reporter:
    """Turns steps into words and shares, for a display.

    Parameters
    ----------
    title : str
        What is fitted.
    display : Lines, NotebookBar, TerminalBar or Silence
    clock : callable, default=time.perf_counter
    tasks : _Tasks or None, default=None
    """

    def __init__(self, title, display, clock=time.perf_counter, tasks=None):
        self.title, self.display, self.clock, self.tasks = title, display, clock, tasks
        self.what, self.began = None, clock()
        self.passes, self.text, self.share, self.told = 0, f"{title}: ", 0.0, -PASS_SECONDS

    def step(self, what, done, total):
        now = self.clock()
        if what != self.what:
            self.what, self.began, self.before = what, now, done - 1
        took, steps = now - self.began, max(1, done - self.before)
        # The first step of a kind has no time of its own, because nothing told when it began.
        left = f", about {took / (steps - 1) * (total - done):.1f} s left" if steps > 1 and done < total else ""
        self.text, self.share = f"{self.title}: {what} {done} of {total}{left}; ", done / total
        self.display.show(self.text.removesuffix("; "), self.share, done == total)
        if self.tasks is not None:
            self.tasks.step(what)

    def pass_over_rows(self, done, total):
        now, share = self.clock(), done / total
        if now - self.told >= PASS_SECONDS:
            text = f"{self.text}pass {self.passes + 1} over the rows, {share:.0%}"
            self.display.show(text, self.share or share, False)
            self.told = now
        self.passes += done == total

    def close(self):
        self.display.close()
        if self.tasks is not None:
            self.tasks.close()


def display_for_here():
    """Return the display that suits where the program runs."""
    if in_notebook():
        return NotebookBar()
    if sys.stderr.isatty():
        try:
            return TerminalBar()
        except ImportError:
            pass  # rich is not installed, and lines serve
    return Lines()


def in_notebook():
    """Say whether this is a notebook of Jupyter. IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Silence:
    """No display, where only callbacks are told."""

    def show(self, text, share, is_last):
        """Show nothing."""

    def close(self):
        """Leave nothing."""


class Lines:
    """Plain lines on standard error, for log files and terminals without rich."""

    def __init__(self, clock=time.perf_counter):
        self.clock, self.last = clock, None

    def show(self, text, share, is_last):
        now = self.clock()
        if self.last is None or is_last or now - self.last >= LINE_SECONDS:
            print(text, file=sys.stderr, flush=True)
            self.last = now

    def close(self):
        """Leave the lines where they are."""


class TerminalBar:
    """A bar on a terminal, drawn by rich, which is gone when the fit is done."""

    def __init__(self):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.progress = Progress(
            TextColumn("{task.description}"), BarColumn(), console=Console(stderr=True), transient=True
        )
        self.task = self.progress.add_task("", total=1.0)
        self.progress.start()

    def show(self, text, share, is_last):
        self.progress.update(self.task, description=text, completed=share)

    def close(self):
        self.progress.stop()


class NotebookBar:
    """A bar in a notebook, of HTML, in one output that is changed again and again."""

    def __init__(self):
        from IPython.display import HTML, display

        self.html, self.handle = HTML, display(HTML(""), display_id=True)

    def show(self, text, share, is_last):
        self.handle.update(self.html(f'<progress value="{share:.3f}" max="1"></progress> {text}'))

    def close(self):
        self.handle.update(self.html(""))
