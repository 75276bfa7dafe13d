"""What the tests of model files share: a path, a small file, and every model in turn."""

import os

import pytest
from kept_models import MODELS, fitted_model, make_data

from isrht import save


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch):
    """Files need not survive a power cut here, and to wait for a busy disk takes seconds."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def data():
    return make_data()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.isrht"


@pytest.fixture
def small(path):
    """A small file, and the model in it."""
    model = fitted_model("svm")
    save(model, path)
    return path, model


@pytest.fixture(params=MODELS)
def fitted(request):
    """A fitted model of every kind that a file can hold, in turn."""
    return fitted_model(request.param)
