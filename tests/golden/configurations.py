"""The configurations whose models must not change: every estimator and selection, on every kind of rows.

Only names of ``isrht.__all__`` are used, so that this file outlives any rebuilding of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    HadamardRotation,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    SparseEmbedding,
    fwht,
    fwhtn,
    ifwht,
    make_projection,
)

from .rows import Sample, from_blocks, from_dask, from_libsvm, from_npz, in_memory


def fit_at_once(model, rows):
    weights = {} if rows.weights is None else {"sample_weight": rows.weights}
    return model.fit(rows.X, rows.y, **weights)


def fit_in_three_blocks(model, rows):
    for part in np.array_split(np.arange(len(rows.y)), 3):
        model.partial_fit(rows.X[part], rows.y[part])
    return model


@dataclass(frozen=True)
class Configuration:
    """An estimator, the rows that it learns from, and how it is given them."""

    estimator: BaseEstimator
    sample: Sample
    source: Callable = in_memory
    fit: Callable = fit_at_once

    @property
    def needs_dask(self):
        return self.source is from_dask

    def fitted(self):
        """Return the fitted estimator."""
        with _surroundings() as folder:
            return self.fit(clone(self.estimator), self.source(self.sample.training, folder))

    @contextmanager
    def held_out(self):
        """Give the rows that ``fitted`` did not see, in the way that it was given its own."""
        with _surroundings() as folder:
            yield self.source(self.sample.held_out, folder).X


@contextmanager
def _surroundings():
    """Give a folder for files, and hold BLAS to one thread: the order of its sums depends on their number."""
    with TemporaryDirectory() as folder, threadpool_limits(1):
        yield folder


DENSE = Sample()
DENSE32 = Sample(dtype="float32")
SPARSE = Sample(sparse=True)
SPARSE32 = Sample(sparse=True, dtype="float32")
WEIGHTED = Sample(weighted=True)
THREE = Sample(n_classes=3, named_classes=True)
THREE32 = Sample(n_classes=3, named_classes=True, dtype="float32")
TEN = Sample(n_samples=400, n_features=30, n_classes=10)
SPARSE_TEN = Sample(n_samples=400, n_features=50, n_classes=10, sparse=True)
WEIGHTED_THREE = Sample(n_classes=3, weighted=True)
WEIGHTED_SPARSE = Sample(sparse=True, weighted=True)
# More features than rows; and more of them than a sparse SVM is solved exactly for.
WIDE = Sample(n_samples=120, n_features=150, sparse=True)
VERY_WIDE = Sample(n_samples=120, n_features=410, sparse=True)
# Enough rows in memory for several blocks.
LONG = Sample(n_samples=40_000, n_features=64, dtype="float32")
LONG_SPARSE = Sample(n_samples=40_000, n_features=64, sparse=True)

# Two splits that leave out many rows, so that the model files that keep them are small.
SPLITS = [(np.arange(first, first + 60), np.arange(first + 60, first + 90)) for first in (0, 100)]
CS = (0.01, 0.1, 1.0, 10.0)


def _isrht(sample, n_components=8, *, source=in_memory, fit=fit_at_once, **parameters):
    return Configuration(ISRHT(n_components, random_state=0, **parameters), sample, source, fit)


def _boosted(sample, n_components=4, *, source=in_memory, **parameters):
    return Configuration(BoostedISRHT(n_components, random_state=0, **parameters), sample, source)


def _classifier(sample, n_components=8, *, source=in_memory, selection="supervised", **parameters):
    if selection != "boosted":
        parameters["Cs"] = CS
    model = ISRHTClassifier(n_components, selection=selection, random_state=0, **parameters)
    return Configuration(model, sample, source)


def _svm(sample, *, source=in_memory, **parameters):
    return Configuration(LinearSVM(**parameters), sample, source)


def _svm_cv(sample, *, source=in_memory, **parameters):
    return Configuration(LinearSVMCV(CS, **parameters), sample, source)


def _projection(name):
    return Configuration(make_projection(name, 6, random_state=0), DENSE)


MODELS = {
    "isrht-uniform": _isrht(DENSE, selection="uniform"),
    "isrht-importance": _isrht(DENSE32, selection="importance"),
    "isrht-importance-once": _isrht(SPARSE, selection="importance", replace=False),
    "isrht-importance-weighted": _isrht(WEIGHTED, selection="importance"),
    "isrht-top": _isrht(SPARSE32, selection="top"),
    "isrht-top-share": _isrht(DENSE, 0.4, selection="top"),
    "isrht-top-centred": _isrht(DENSE32, selection="top", center=True),
    "isrht-supervised": _isrht(THREE),
    "isrht-supervised-float32": _isrht(THREE32, balance=0.5),
    "isrht-supervised-sparse": _isrht(SPARSE_TEN),
    "isrht-supervised-centred-sparse": _isrht(SPARSE, center=True),
    "isrht-supervised-balanced-sparse": _isrht(WIDE, class_weight="balanced"),
    "isrht-supervised-weighted": _isrht(WEIGHTED_THREE, class_weight={0: 1.0, 1: 2.5, 2: 0.5}),
    "isrht-supervised-weighted-sparse": _isrht(WEIGHTED_SPARSE),
    "isrht-sketched": _isrht(WIDE, sketch_size=60, center=True),
    "isrht-sketched-as-in-the-paper": _isrht(DENSE, sketch_size="paper"),
    "isrht-scored-on-some-rows": _isrht(THREE, n_score_samples=90),
    "isrht-in-three-blocks": _isrht(THREE, fit=fit_in_three_blocks),
    "isrht-long": _isrht(LONG, n_jobs=2),
    "isrht-long-sparse": _isrht(LONG_SPARSE, n_jobs=2),
    "isrht-from-blocks": _isrht(THREE, source=from_blocks),
    "isrht-from-npz": _isrht(SPARSE, source=from_npz),
    "isrht-from-dask": _isrht(THREE32, source=from_dask),
    "isrht-from-dask-sparse": _isrht(WEIGHTED_SPARSE, source=from_dask),
    "embedding-random": Configuration(SparseEmbedding(8, random_state=0), SPARSE),
    "embedding-signs": Configuration(SparseEmbedding(8, diagonal="signs", random_state=0), THREE32),
    "embedding-z": Configuration(SparseEmbedding(8, diagonal="z", dense_output=True, random_state=0), SPARSE_TEN),
    "leverage": Configuration(LeverageScoreSelection(8, random_state=0), DENSE),
    "leverage-of-given-rank": Configuration(LeverageScoreSelection(8, rank=3, random_state=0), SPARSE),
    "fourier": Configuration(HadamardFourierFeatures(12, random_state=0), DENSE32),
    "fourier-more-than-features": Configuration(HadamardFourierFeatures(80, gamma=0.01, random_state=0), SPARSE),
    "fourier-candidates": Configuration(HadamardFourierFeatures(12, candidates=4, random_state=0), THREE),
    "rotation": Configuration(HadamardRotation(random_state=0), DENSE),
    "rotation-float32": Configuration(HadamardRotation(3, random_state=1), DENSE32),
    "rotation-sparse": Configuration(HadamardRotation(1, random_state=2), SPARSE),
    "boosted-auto": _boosted(DENSE, 8),
    "boosted-z": _boosted(SPARSE32, diagonal="z"),
    "boosted-standard": _boosted(DENSE32, diagonal="standard", cv=3),
    "boosted-signs": _boosted(THREE, diagonal="signs"),
    "boosted-three-classes": _boosted(THREE32),
    "boosted-ten-classes": _boosted(TEN, 12, rounds=4),
    "boosted-contrasts": _boosted(DENSE, 40, rounds=3, threshold=1.0),
    "boosted-wide": _boosted(WIDE),
    "boosted-weighted": _boosted(WEIGHTED, scaled=False),
    "boosted-weighted-sparse": _boosted(WEIGHTED_SPARSE, cv=SPLITS),
    "boosted-long": _boosted(LONG, 3, threshold=0.0, diagonal="z", n_jobs=2),
    "boosted-from-blocks": _boosted(THREE, source=from_blocks),
    "boosted-from-libsvm": _boosted(WEIGHTED_SPARSE, source=from_libsvm),
    "boosted-from-dask": _boosted(WEIGHTED, source=from_dask),
    "svm": _svm(DENSE),
    "svm-float32": _svm(THREE32, C=0.1),
    "svm-sparse": _svm(SPARSE, fit_intercept=False),
    "svm-wide": _svm(VERY_WIDE),
    "svm-ten-classes": _svm(TEN, class_weight="balanced"),
    "svm-weighted": _svm(WEIGHTED_THREE, class_weight={0: 1.0, 1: 3.0, 2: 0.5}),
    "svm-long-sparse": _svm(LONG_SPARSE, n_jobs=2),
    "svm-from-dask-sparse": _svm(WEIGHTED_SPARSE, source=from_dask),
    "svm-cv": _svm_cv(THREE),
    "svm-cv-f1": _svm_cv(THREE32, scoring="f1_macro", cv=3),
    "svm-cv-given-splits": _svm_cv(SPARSE, cv=SPLITS),
    "svm-cv-mean-of-folds": _svm_cv(DENSE, refit=False),
    "svm-cv-weighted": _svm_cv(WEIGHTED_THREE, class_weight="balanced"),
    "svm-cv-wide": _svm_cv(VERY_WIDE, cv=2),
    "svm-cv-long": _svm_cv(LONG, cv=2, n_jobs=2),
    "svm-cv-from-blocks": _svm_cv(THREE, source=from_blocks),
    "svm-cv-from-libsvm": _svm_cv(SPARSE, source=from_libsvm, scoring="f1_macro"),
    "svm-cv-from-dask": _svm_cv(THREE, source=from_dask),
    "classifier-supervised": _classifier(THREE),
    "classifier-supervised-sparse": _classifier(SPARSE32, scale="maxabs", center=True),
    "classifier-supervised-f1": _classifier(TEN, scoring="f1_macro", cv=3),
    "classifier-weighted": _classifier(WEIGHTED_THREE, class_weight="balanced"),
    "classifier-projected-once": _classifier(DENSE, project_once=True),
    "classifier-given-c": _classifier(SPARSE, selection="importance", C=0.5, scale="maxabs"),
    "classifier-given-c-probabilities": _classifier(THREE, selection="supervised", C=1.0, probability=True),
    "classifier-uniform": _classifier(DENSE, selection="uniform", cv=SPLITS),
    "classifier-top-minmax": _classifier(THREE32, selection="top", scale="minmax"),
    "classifier-sketched": _classifier(WIDE, 6, sketch_size=40),
    "classifier-scored-on-some-rows": _classifier(DENSE, n_score_samples=100, fit_intercept=False),
    "classifier-boosted": _classifier(DENSE, 4, selection="boosted"),
    "classifier-boosted-ten-classes": _classifier(SPARSE_TEN, 10, selection="boosted", cv=2),
    "classifier-boosted-weighted": _classifier(WEIGHTED_SPARSE, 4, selection="boosted", C=2.0, scale="maxabs"),
    "classifier-boosted-blend": _classifier(WEIGHTED_THREE, 6, selection="boosted", scale="maxabs", blend=True),
    "classifier-from-blocks": _classifier(WEIGHTED_THREE, source=from_blocks, scale="minmax"),
    "classifier-from-blocks-long": _classifier(LONG, source=from_blocks, cv=2),
    "classifier-from-npz": _classifier(DENSE32, source=from_npz),
    "classifier-from-dask": _classifier(THREE, source=from_dask, scale="maxabs"),
    "classifier-boosted-from-libsvm": _classifier(SPARSE, 4, selection="boosted", source=from_libsvm),
    "classifier-boosted-from-dask": _classifier(WEIGHTED, 4, selection="boosted", source=from_dask),
    "pipeline": Configuration(make_pipeline(StandardScaler(), ISRHT(8, random_state=0), LinearSVM()), THREE),
    "projection-gaussian": _projection("Gaussian"),
    "projection-achlioptas": _projection("Achlioptas"),
    "projection-sparse-embedding": _projection("Sparse Embedding"),
    "projection-srht": _projection("SRHT"),
    "projection-nps": _projection("ISRHT-nps"),
    "projection-top-r": _projection("ISRHT-top-r"),
    "projection-supervised": _projection("ISRHT-supervised"),
    "projection-pca": _projection("PCA"),
    "projection-dlss": _projection("DLSS"),
}


def transforms():
    """Return Walsh-Hadamard transforms of arrays of several shapes, types and layouts, by name."""
    rng = np.random.RandomState(2020)
    numbers = np.round(100 * rng.standard_normal((3, 4, 16))) / 100
    long = rng.randint(-99, 100, size=2**21) / 100
    return {
        "of one row": fwht(numbers[0, 0]),
        "along the last axis": fwht(numbers[0], norm="ortho"),
        "along the first axis": fwht(numbers[0], 0),
        "along a middle axis": fwht(numbers, axis=1, norm="ortho"),
        "of float32": fwht(numbers[1].astype(np.float32), norm="ortho"),
        "of float16": fwht(numbers[1].astype(np.float16)).astype(np.float32),
        "of integers": fwht(np.arange(32)),
        "of columns": fwht(np.asfortranarray(numbers[2])),
        "of one value": fwht([2.5]),
        "of length 12": fwht(numbers[0, :, :12], norm="ortho"),
        "of length 5120": fwht(numbers.ravel()[np.arange(5120) % 97])[::99],
        "by sequency": fwht(numbers[0], order="sequency"),
        "in dyadic order": fwht(numbers[0], order="dyadic"),
        "of an image": fwhtn(numbers[0], norm="forward"),
        "inverse": ifwht(numbers[0]),
        "of the real parts of complex numbers": fwht(numbers[0] + 1j * numbers[1]).real,
        "of a long row by two workers": fwht(long, norm="ortho", workers=2)[:: 2**16 + 1],
    }
