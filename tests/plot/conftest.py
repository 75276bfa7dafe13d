"""Figures are drawn without a screen, and closed; without matplotlib there is nothing to test."""

import pytest
from sklearn.datasets import load_digits

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]
