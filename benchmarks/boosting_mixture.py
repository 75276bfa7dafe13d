"""Does a model of boosted columns and an SVM on all features together beat both? Accuracy on splits, as Markdown.

Both are one weight per feature, so a model of both is again one linear model. There are two ways to make one:

- a *mixture*: the scores of each, divided by their standard deviation on the training rows, in shares that add up to 1;
- *boosted columns as prior*: an SVM on all features and one more for each class, the score of the boosted model. It is
  multiplied so that its own weight is nearly free, and the other weights correct it.

The share and the C of the prior are chosen by accuracy on rows that are held out of the training part; each fold trains
all models anew. ``python -m benchmarks.boosting_mixture --data DIR --sets rcv1sub`` reads sets as ``bench_boosting``
does, and ``--keel FOLDER`` those of ``boosting_further``. The last lines are means over all sets.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler

from benchmarks.bench_boosting import WIDE_CS, load
from benchmarks.boosting_further import load as load_keel
from isrht import ISRHTClassifier, LinearSVM, LinearSVMCV

SHARES = np.linspace(0, 1, 11)
PRIOR_CS = 4.0 ** np.arange(-5, 2)
# How large the boosted score is as a feature, where the root mean square of a row is 1.
FREEDOM = 3.0
NAMES = ("boosted r=16", "all features", "half of each", "chosen mixture", "boosted as prior")


def scores_of(model, X):
    """Return scores as an array (rows, problems)."""
    scores = model.decision_function(X)
    return scores[:, None] if scores.ndim == 1 else scores


def is_right(scores, codes):
    return (scores[:, 0] > 0) == codes if scores.shape[1] == 1 else scores.argmax(axis=1) == codes


def smooth(values):
    """Return values of which each has a quarter of its two neighbours."""
    return np.convolve(np.pad(values, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")


class Parts:
    """Both models, trained on some rows."""

    def __init__(self, X, y, C, seed):
        self.X, self.y = X, y
        self.models = [ISRHTClassifier(16, random_state=seed).fit(X, y), LinearSVM(C).fit(X, y)]
        self.units = [scores_of(model, X).std() or 1.0 for model in self.models]
        squares = X.multiply(X).sum() if sp.issparse(X) else np.sum(X * X)
        self.factor = FREEDOM * np.sqrt(squares / X.shape[0]) / self.units[0]

    def mixed(self, X, share):
        """Return the scores of the mixture with this share of the SVM."""
        boosted, svm = (scores_of(model, X) / unit for model, unit in zip(self.models, self.units, strict=True))
        return (1 - share) * boosted + share * svm

    def with_prior(self, C):
        """Return a function of rows: their scores under the SVM that corrects the boosted one."""
        svm = LinearSVM(C, tol=1e-3).fit(self._widened(self.X), self.y)
        return lambda X: scores_of(svm, self._widened(X))

    def _widened(self, X):
        own = self.factor * scores_of(self.models[0], X)
        return sp.csr_array(sp.hstack([X, sp.csr_array(own)], format="csr")) if sp.issparse(X) else np.hstack([X, own])


def choose(X, y, codes, C, seed, n_folds):
    """Return the share of the mixture and the C of the prior that do best on rows that are held out."""
    of_share, of_C = np.zeros(len(SHARES)), np.zeros(len(PRIOR_CS))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        parts = Parts(X[train], y[train], C, seed)
        of_share += [is_right(parts.mixed(X[test], share), codes[test]).sum() for share in SHARES]
        of_C += [is_right(parts.with_prior(each)(X[test]), codes[test]).sum() for each in PRIOR_CS]
    smoothed = smooth(of_share)
    best = SHARES[smoothed >= smoothed.max() - 1e-9].mean()
    return SHARES[np.abs(SHARES - best).argmin()], PRIOR_CS[smooth(of_C).argmax()]


def accuracies(X, y, scaled, seed, n_folds):
    """Return the accuracies of NAMES, and the share that was chosen."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    if scaled:
        scaler = MinMaxScaler((-1, 1)).fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    classes, codes = np.unique(y, return_inverse=True)
    C = LinearSVMCV(WIDE_CS, cv=5, tol=1e-3, max_iter=1000, refit=False).fit(X, y).C_
    share, prior_C = choose(X, y, codes, C, seed, n_folds)
    parts, test = Parts(X, y, C, seed), np.searchsorted(classes, y_test)
    found = [parts.mixed(X_test, some) for some in (0, 1, 0.5, share)] + [parts.with_prior(prior_C)(X_test)]
    return [100 * np.mean(is_right(scores, test)) for scores in found], share


def all_sets(args):
    """Yield name, rows, labels and whether features are to be scaled."""
    for name in args.sets:
        if name == "digits10":
            X, y = load_digits(return_X_y=True)
            yield name, X / 16, y, False
        else:
            yield name, *load(name, args.data), False
    for path in sorted(args.keel.glob("*.dat")) if args.keel else []:
        X, y = load_keel(path)
        if len(y) >= args.least_rows:
            yield path.stem, X, y, True


def difference(gains):
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    return f"{gains.mean():+.2f} ± {error:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", nargs="*", default=["digits", "digits10"])
    parser.add_argument("--keel", type=Path)
    parser.add_argument("--least-rows", type=int, default=0)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=9000)
    args = parser.parse_args()
    print(f"| data | {' | '.join(NAMES)} | mixture less all features | mixture less boosted | share |")
    print("|---" * (len(NAMES) + 4) + "|")
    means = []
    for name, X, y, scaled in all_sets(args):
        seeds = range(args.seed, args.seed + args.splits)
        found = [accuracies(X, y, scaled, seed, args.folds) for seed in seeds]
        values, share = np.array([each for each, _ in found]), np.mean([share for _, share in found])
        cells = [f"{mean:.2f}" for mean in values.mean(axis=0)]
        cells += [difference(values[:, 3] - values[:, other]) for other in (1, 0)]
        print(f"| {name} | {' | '.join(cells)} | {share:.2f} |", flush=True)
        means.append(values.mean(axis=0))
    means = np.array(means)
    for column, name in enumerate(NAMES):
        print(f"\n{name}, less all features, over {len(means)} sets: {difference(means[:, column] - means[:, 1])}")


if __name__ == "__main__":
    main()
