"""A display draws on given axes or on its own, and says what to install where there is no matplotlib."""

import builtins

import pytest
from sklearn.pipeline import make_pipeline

from isrht import ISRHT, LinearSVM, LinearSVMCV
from isrht.plot import HeldOutScoresDisplay
from isrht.plot._display import last_step


def test_without_matplotlib_the_error_says_what_to_install(digits, monkeypatch):
    find = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return find(name, *args, **kwargs)

    X, y = digits
    model = LinearSVMCV([1.0]).fit(X, y % 2)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'isrht\[plot\]'"):
        HeldOutScoresDisplay.from_estimator(model)


def test_the_last_step_of_a_pipeline_is_what_is_shown():
    svm = LinearSVM()
    assert last_step(make_pipeline(ISRHT(4), svm)) is last_step(svm) is svm
