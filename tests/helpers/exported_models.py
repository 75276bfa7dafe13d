"""Models and rows that every export target is tried on."""

import numpy as np
import scipy.sparse as sp

from isrht import ISRHTClassifier, LinearSVM, LinearSVMCV

N_FEATURES = 37
MODELS = {
    "supervised": ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0),
    "uniform": ISRHTClassifier(8, selection="uniform", C=1.0, random_state=0),
    "importance": ISRHTClassifier(8, selection="importance", C=1.0, scale="maxabs", random_state=0),
    "top, minmax, centred": ISRHTClassifier(8, selection="top", C=1.0, scale="minmax", center=True, random_state=0),
    "sketched": ISRHTClassifier(
        8, selection="supervised", sketch_size=50, C=1.0, scale="maxabs", center=True, random_state=0
    ),
    "boosted": ISRHTClassifier(12, selection="boosted", scale="maxabs", random_state=0),
    "without intercept": ISRHTClassifier(8, selection="supervised", C=1.0, fit_intercept=False, random_state=0),
    "svm": LinearSVM(),
    "svm cv": LinearSVMCV([0.1, 1.0], cv=3),
}
PROJECTED = [name for name in MODELS if not name.startswith("svm")]
LABELS = {
    "integers": np.array([-3, 7, 12]),
    "strings": np.array(["ash", 'bir"ch\\ ??/', "zeder ü"]),
    "objects": np.array(["ash", "birch", "cedar"], dtype=object),
    "floats": np.array([0.0, 1.0, 2.0]),
    "booleans": np.array([False, True]),
}


def make_data(n_classes=2, labels="integers"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, N_FEATURES)) * (rng.random((90, N_FEATURES)) < 0.5)
    codes = np.arange(90) % n_classes
    X += 2 * np.eye(N_FEATURES)[codes]
    return X, LABELS[labels][codes]


def fitted(name, n_classes=2, labels="integers"):
    X, y = make_data(n_classes, labels)
    return MODELS[name].fit(X, y), X


def as_csr(X):
    return sp.csr_array(X)
