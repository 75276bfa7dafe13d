"""Progress: the outermost fit tells its steps and the time left, in the form that suits where it runs."""

import io
import sys
import types

import numpy as np
import pytest
from svm_data import noisy

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, RowSource
from isrht.support import progress
from isrht.support.progress import Lines, NotebookBar, Reporter, TerminalBar, display_for_here, fit_under_way, step


class Kept:
    def __init__(self):
        self.shown, self.closed = [], False

    def show(self, text, share, is_last):
        self.shown.append((text, share))

    def close(self):
        self.closed = True


def test_steps_are_told_with_a_forecast():
    times, kept = iter([0, 10, 12, 14, 20]), Kept()
    reporter = Reporter("Fit", kept, clock=lambda: next(times))
    for done in (1, 2, 3):
        reporter.step("round", done, 5)
    reporter.step("C", 1, 1)
    texts = [text for text, _ in kept.shown]
    assert texts == [
        *("Fit: round 1 of 5", "Fit: round 2 of 5, about 6.0 s left", "Fit: round 3 of 5, about 4.0 s left"),
        "Fit: C 1 of 1",
    ]
    assert [share for _, share in kept.shown] == [0.2, 0.4, 0.6, 1.0]


def test_passes_are_told_between_steps_and_where_there_are_none():
    times, kept = iter([0.0, 1.0, 1.05, 2.0, 3.0, 4.0]), Kept()
    reporter = Reporter("Fit", kept, clock=lambda: next(times))
    for done in (2, 3, 4):
        reporter.pass_over_rows(done, 4)
    reporter.step("round", 1, 2)
    reporter.pass_over_rows(1, 4)
    texts = [text for text, _ in kept.shown]
    assert texts == [
        *("Fit: pass 1 over the rows, 50%", "Fit: pass 1 over the rows, 100%"),
        *("Fit: round 1 of 2", "Fit: round 1 of 2; pass 2 over the rows, 25%"),
    ]
    assert [share for _, share in kept.shown] == [0.5, 1.0, 0.5, 0.5]


def test_lines_are_rare_but_for_the_last(capsys):
    times = iter([0.0, 0.1, 0.2, 2.0])
    lines = Lines(clock=lambda: next(times))
    for text, share in (("one", 0.1), ("two", 0.2), ("three", 1.0), ("four", 0.1)):
        lines.show(text, share, share == 1.0)
    assert capsys.readouterr().err.splitlines() == ["one", "three", "four"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LinearSVMCV([0.1, 1.0, 10.0], verbose=1), "LinearSVMCV: C 3 of 3"),
        (
            ISRHTClassifier(4, selection="supervised", Cs=[0.1, 1.0], cv=3, verbose=1),
            "ISRHTClassifier: fold and C 6 of 6",
        ),
        (ISRHTClassifier(4, verbose=1, random_state=0), "ISRHTClassifier: round of the search"),
        (BoostedISRHT(4, verbose=True, random_state=0), "BoostedISRHT: round of the search"),
        (LinearSVM(verbose=1), "LinearSVM: pass 1 over the rows, 100%"),
        (ISRHT(4, verbose=1, random_state=0), "ISRHT: pass 1 over the rows, 100%"),
    ],
    ids=["search", "supervised", "classifier", "columns", "svm", "projection"],
)
@pytest.mark.parametrize("place", [lambda X: X, RowSource], ids=["memory", "source"])
def test_fits_tell_how_far_they_are(model, said, place, capsys):
    X, y = noisy(200, 8)
    model.fit(place(X), y)
    told = capsys.readouterr().err
    assert said in told
    model.set_params(verbose=0).fit(place(X), y)
    assert capsys.readouterr().err == ""
    model.set_params(verbose=1)


def test_a_fit_that_fails_ends_its_display(monkeypatch):
    kept = Kept()
    monkeypatch.setattr(progress, "display_for_here", lambda: kept)

    def fails():
        with fit_under_way("Fit", 1):
            step("round", 1, 2)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert kept.closed
    step("round", 2, 2)
    assert len(kept.shown) == 1


def test_only_the_outermost_fit_is_shown(monkeypatch):
    kept = Kept()
    monkeypatch.setattr(progress, "display_for_here", lambda: kept)
    with fit_under_way("Outer", 1), fit_under_way("Inner", 1):
        step("round", 1, 2)
    assert kept.shown == [("Outer: round 1 of 2", 0.5)]


@pytest.mark.parametrize("verbose", [-1, "much", 0.5, None])
def test_verbose_is_a_number(verbose):
    with pytest.raises(ValueError, match="verbose must be 0, for silence, or 1"):
        LinearSVMCV(verbose=verbose).fit(*noisy(60))


def test_a_terminal_has_a_bar(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", terminal := io.StringIO())
    assert isinstance(display_for_here(), Lines)
    terminal.isatty = lambda: True
    display = display_for_here()
    assert isinstance(display, TerminalBar)
    display.show("Fit: round 1 of 2", 0.5, False)
    display.close()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert isinstance(display_for_here(), Lines)


def test_a_notebook_has_a_bar(monkeypatch):
    pages = []

    class Handle:
        def update(self, page):
            pages.append(page)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = type("ZMQInteractiveShell", (), {})
    shown = types.ModuleType("IPython.display")
    shown.HTML, shown.display = str, lambda page, display_id: Handle()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    display = display_for_here()
    assert isinstance(display, NotebookBar)
    display.show("Fit: round 1 of 2", 0.5, False)
    display.close()
    assert pages == ['<progress value="0.500" max="1"></progress> Fit: round 1 of 2', ""]


class Recorder:
    """A callback of scikit-learn that keeps the names of tasks."""

    def __init__(self):
        self.tasks, self.ended = [], False

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.ended = True


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (LinearSVMCV([0.1, 1.0]), "C"),
        (ISRHTClassifier(4, random_state=0), "round of the search"),
        (ISRHTClassifier(4, selection="supervised", Cs=[1.0], cv=2), "fold and C"),
        (BoostedISRHT(4, random_state=0), "round with all rows"),
    ],
    ids=["svm", "classifier", "supervised", "columns"],
)
def test_callbacks_of_scikit_learn_see_the_steps(model, task, capsys):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y = noisy(200, 8)
    recorder = Recorder()
    model = model.__class__(**model.get_params()).set_callbacks(recorder)
    model.fit(X, y)
    assert recorder.tasks[:2] == ["setup", "fit"]
    assert task in recorder.tasks
    assert recorder.ended
    assert capsys.readouterr().err == ""
    recorder.ended = False
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(200))
    assert recorder.ended
