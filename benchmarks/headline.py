"""The headline ratios: how long what users do most takes, in units of a yardstick that is timed in turns with it.

Seconds of two days or two machines cannot be compared; the ratio of two times of one minute can. A yardstick is the
simplest thing that moves the same memory, or what scikit-learn has for the task. Only public names are used, so that
old commits can be measured by this file as it is today. ``python benchmarks/headline.py`` prints the ratios as JSON.
"""

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file
from sklearn.svm import LinearSVC

REPEAT = 7


def transform_of_rows():
    """fwht in place of 2048 x 4096 float32, against an in-place scale."""
    from isrht import fwht

    x = _normal((2048, 4096)).astype(np.float32)
    return lambda: fwht(x, norm="ortho", overwrite_x=True), lambda: np.multiply(x, np.float32(1), out=x)


def projection_of_dense_rows():
    """ISRHT.transform of 2000 x 5000 float32 to 256 columns, against the sum of all values."""
    from isrht import ISRHT

    X = _normal((2000, 5000)).astype(np.float32)
    model = ISRHT(256, selection="uniform", random_state=0).fit(X)
    return lambda: model.transform(X), X.sum


def scores_of_columns():
    """ISRHT.fit (supervised) of 2000 x 5000 float32, against the sum of all values."""
    from isrht import ISRHT

    X = _normal((2000, 5000)).astype(np.float32)
    y = X[:, 0] > 0
    return lambda: ISRHT(256, random_state=0).fit(X, y), X.sum


def projection_of_sparse_rows():
    """ISRHT.transform of 10,000 sparse rows of 75 values to 256 columns, against a count sketch by SciPy."""
    from isrht import ISRHT

    X = _sparse(10_000, 47_000, 75)
    model = ISRHT(256, selection="uniform", random_state=0).fit(X)
    rng = np.random.default_rng(0)
    sketch = sp.csr_array(
        (rng.choice([-1.0, 1.0], 47_000), rng.integers(0, 512, 47_000), np.arange(47_001)), (47_000, 512)
    )
    return lambda: model.transform(X), lambda: X @ sketch


def search_over_C():
    """LinearSVMCV of 2000 x 64 (11 values of C, 5 folds), against one fit of LinearSVC."""
    from isrht import LinearSVMCV

    X = _normal((2000, 64))
    y = X[:, :8].sum(axis=1) + _normal(2000) > 0
    return lambda: LinearSVMCV().fit(X, y), lambda: LinearSVC(dual=False).fit(X, y)


def boosted_columns():
    """BoostedISRHT.fit of the digits, odd against even, against one fit of LinearSVC."""
    from isrht import BoostedISRHT

    X, y = load_digits(return_X_y=True)
    return lambda: BoostedISRHT(16, random_state=0).fit(X, y % 2), lambda: LinearSVC(dual=False).fit(X, y % 2)


def reading_of_text():
    """read_rows of 4000 rows of LIBSVM text, against scikit-learn's reader."""
    from isrht.files import read_rows

    path = Path(tempfile.mkdtemp(), "rows.svm")
    dump_svmlight_file(_sparse(4000, 5000, 50), np.arange(4000) % 2, str(path), zero_based=False)
    return lambda: read_rows(path), lambda: load_svmlight_file(str(path))


def prediction_of_one_row():
    """Predictor.predict_one of 2000 features, a thousand times, against the products of weights and row."""
    from isrht import LinearSVM, Predictor

    X = _normal((300, 2000))
    model = LinearSVM().fit(X, X[:, 0] > 0)
    predictor, weights, row = Predictor(model), model.coef_[0].copy(), X[0].copy()

    def one_by_one():
        for _ in range(1000):
            predictor.predict_one(row)

    def products():
        for _ in range(1000):
            np.dot(weights, row)

    return one_by_one, products


HEADLINES = (
    transform_of_rows,
    projection_of_dense_rows,
    scores_of_columns,
    projection_of_sparse_rows,
    search_over_C,
    boosted_columns,
    reading_of_text,
    prediction_of_one_row,
)


def ratio(headline, repeat=REPEAT):
    """Return the least time of the work over the least time of its yardstick, which take turns."""
    work, yardstick = headline()
    best = [float("inf")] * 2
    for turn in range(repeat + 1):
        for place, function in enumerate((work, yardstick)):
            start = time.perf_counter()
            function()
            if turn:
                best[place] = min(best[place], time.perf_counter() - start)
    return best[0] / best[1]


def _normal(shape):
    return np.random.default_rng(0).standard_normal(shape)


def _sparse(n_samples, n_features, per_row):
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, n_features, (n_samples, per_row)), axis=1).ravel()
    X = sp.csr_matrix(
        (rng.standard_normal(len(indices)), indices, np.arange(0, len(indices) + 1, per_row)), (n_samples, n_features)
    )
    X.sum_duplicates()
    return X


def main():
    """Print the ratios of the package that is imported here."""
    wanted = set(sys.argv[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {h.__name__: ratio(h) for h in HEADLINES if not wanted or h.__name__ in wanted}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
