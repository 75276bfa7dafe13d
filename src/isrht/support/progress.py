"""How far a fit is, told while it runs: a bar in a notebook or on a terminal, lines elsewhere.

Fits are nested, as that of a classifier which fits columns and then an SVM, and the loops that take time are deep
inside. So a loop tells what it has done to whatever fit is under way, by :func:`step`, and need not know who began it.
Only the outermost fit shows anything, and only if its ``verbose`` is not 0. How long is left is forecast from the steps
of the same kind so far.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from numbers import Integral

# Lines are no nearer to each other than so many seconds, but for the last of a kind.
LINE_SECONDS = 1.0

_under_way: ContextVar[Reporter | None] = ContextVar("isrht_fit_under_way", default=None)


def shows_progress(fit):
    """Let a ``fit`` method show how far it is, if ``verbose`` of the estimator asks for it."""

    @wraps(fit)
    def fit_and_show(self, *args, **kwargs):
        check_verbose(self.verbose)
        with fit_under_way(type(self).__name__, self.verbose):
            return fit(self, *args, **kwargs)

    return fit_and_show


def check_verbose(verbose):
    """Raise an error unless ``verbose`` is a truth value or a number that is not negative."""
    if not isinstance(verbose, Integral) or verbose < 0:
        raise ValueError(f"verbose must be 0, for silence, or 1, got {verbose!r}")


@contextmanager
def fit_under_way(title, verbose):
    """Show the steps of what happens in this context, unless it is part of a fit that shows its own."""
    if not verbose or _under_way.get() is not None:
        yield
        return
    reporter = Reporter(title, display_for_here())
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


class Reporter:
    """Turns steps into words and shares, for a display.

    Parameters
    ----------
    title : str
        What is fitted.
    display : Lines, NotebookBar or TerminalBar
    clock : callable, default=time.perf_counter
    """

    def __init__(self, title, display, clock=time.perf_counter):
        self.title, self.display, self.clock = title, display, clock
        self.what, self.began = None, clock()

    def step(self, what, done, total):
        now = self.clock()
        if what != self.what:
            self.what, self.began, self.before = what, now, done - 1
        took, steps = now - self.began, max(1, done - self.before)
        # The first step of a kind has no time of its own, because nothing told when it began.
        left = f", about {took / (steps - 1) * (total - done):.1f} s left" if steps > 1 and done < total else ""
        self.display.show(f"{self.title}: {what} {done} of {total}{left}", done / total)

    def close(self):
        self.display.close()


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


class Lines:
    """Plain lines on standard error, for log files and terminals without rich."""

    def __init__(self, clock=time.perf_counter):
        self.clock, self.last = clock, None

    def show(self, text, share):
        now = self.clock()
        if self.last is None or share >= 1 or now - self.last >= LINE_SECONDS:
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

    def show(self, text, share):
        self.progress.update(self.task, description=text, completed=share)

    def close(self):
        self.progress.stop()


class NotebookBar:
    """A bar in a notebook, of HTML, in one output that is changed again and again."""

    def __init__(self):
        from IPython.display import HTML, display

        self.html, self.handle = HTML, display(HTML(""), display_id=True)

    def show(self, text, share):
        self.handle.update(self.html(f'<progress value="{share:.3f}" max="1"></progress> {text}'))

    def close(self):
        self.handle.update(self.html(""))
