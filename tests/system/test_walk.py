"""A row of data, followed from fit to predict, passes each room once: X is validated and labels are coded once."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.utils.validation
from sklearn.datasets import load_digits

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV
from isrht.rows import labels as labels_module

MODELS = [
    ISRHT(8),
    BoostedISRHT(4),
    LinearSVM(),
    LinearSVMCV(),
    ISRHTClassifier(8, selection="supervised", C=1.0),
    ISRHTClassifier(8, selection="supervised"),
    ISRHTClassifier(8, selection="supervised", project_once=True),
    ISRHTClassifier(8, selection="supervised", scoring="f1_macro"),
    ISRHTClassifier(8, selection="supervised", scale="maxabs", sketch_size=16),
    ISRHTClassifier(8, selection="supervised", n_score_samples=50),
    ISRHTClassifier(8, selection="top"),
    ISRHTClassifier(4, selection="boosted"),
]


@pytest.fixture
def counted(monkeypatch):
    """Count how often many rows are validated by scikit-learn, and how often many labels are coded."""
    counts = {"validated": 0, "coded": 0}
    check, different = sklearn.utils.validation.check_array, labels_module.in_memory

    def counting_check(X, *args, **kwargs):
        counts["validated"] += np.ndim(X) == 2 and X.shape[0] > 100 and X.shape[1] > 40
        return check(X, *args, **kwargs)

    def counting_codes(labels):
        counts["coded"] += len(labels) > 100
        return different(labels)

    monkeypatch.setattr(sklearn.utils.validation, "check_array", counting_check)
    for module in ("projections.isrht", "boosting.estimator", "linear.classifier"):
        monkeypatch.setattr(f"isrht.{module}.in_memory", counting_codes)
    return counts


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_validates_once_and_codes_once(counted, model, container):
    X, y = load_digits(return_X_y=True)
    model.fit(container(X[:300]), y[:300] % 2)
    assert counted == {"validated": 1, "coded": 1}
