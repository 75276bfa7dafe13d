"""The folds of a cross-validation, which say how often each fold trains on a row and how often it holds it out.

scikit-learn's splitters list the numbers of all rows for every fold, which serves for rows in memory. Rows that do not
fit into memory get the same folds from what decides them, the class of a row and its rank in the class. A fold then is
one small number per row, kept where the row is. A splitter of the user's own must be shown all labels and lists the
numbers of all rows; that takes memory per row.
"""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.validation import check_consistent_length, column_or_1d

from isrht.rows.blocks import RowsElsewhere
from isrht.rows.labels import shown
from isrht.rows.values import by_rank, derived, gathered, total

# Boosting holds rows out in fifths.
HELD_OUT_FOLDS = 5
# One fifth of so many rows is enough to hold out. Of fewer rows several fifths are held out, one after the other.
ENOUGH_ROWS = 12_500
# With more than so many classes fewer rows will do, in proportion, because the work grows with the classes.
MANY_CLASSES = 8


class NumberedFolds:
    """Folds in which every row has the number of the one fold that holds it out; all other folds train on it.

    Parameters
    ----------
    numbers : array or RowValues
        Rows with numbers of ``n_folds`` or more are held out by no fold.
    n_folds : int
    """

    def __init__(self, numbers, n_folds):
        self.numbers, self.n_folds = numbers, n_folds

    def __len__(self):
        return self.n_folds

    def counts(self, which=slice(None)):
        """Return how often each of some folds trains on every row, and how often it holds the row out.

        Parameters
        ----------
        which : slice, default=slice(None)
            The folds that are asked for.

        Returns
        -------
        training, held_out : array or RowValues of shape (n_samples, folds)
        """
        chosen = np.arange(self.n_folds)[which]

        def training(numbers):
            return (numbers[:, None] != chosen).view(np.uint8)

        def held_out(numbers):
            return (numbers[:, None] == chosen).view(np.uint8)

        return tuple(derived(side, self.numbers, width=len(chosen)) for side in (training, held_out))

    def test(self, fold):
        """Return the numbers of the rows that a fold holds out, in memory."""
        return np.flatnonzero(gathered(self.numbers) == fold)


class SplitFolds:
    """Folds as scikit-learn's splitters list them.

    Parameters
    ----------
    splits : list of (train, test)
        Arrays of the numbers of rows, of which some may repeat.
    n_samples : int
        The number of rows.
    """

    def __init__(self, splits, n_samples):
        self.splits, self.n_samples = splits, n_samples

    def __len__(self):
        return len(self.splits)

    def counts(self, which=slice(None)):
        """Return arrays as :meth:`NumberedFolds.counts` does."""
        sides = [
            [np.bincount(rows, minlength=self.n_samples) for rows in side]
            for side in zip(*self.splits[which], strict=True)
        ]
        return tuple(np.stack(side, axis=1).astype(np.min_scalar_type(np.max(side))) for side in sides)

    def test(self, fold):
        """Return the numbers of the rows that a fold holds out."""
        return np.sort(self.splits[fold][1])

    @property
    def numbers(self):
        """The number of the one fold that holds each row out, as :class:`NumberedFolds` has it, or None.

        There are such numbers only if every row is held out by one fold, once, and all other folds train on it, once.
        """
        fold = np.full(self.n_samples, -1, dtype=np.int32)
        for k, (train, test) in enumerate(self.splits):
            if len(train) + len(test) != self.n_samples or np.any(fold[test] >= 0):
                return None
            fold[test] = k
            if np.any(fold[train] == k) or np.any(np.bincount(train) > 1):
                return None
        return fold if np.all(fold >= 0) else None


def make_splits(cv, X, y, groups=None):
    """Return the (train, test) of a cross-validation of rows in memory.

    Parameters
    ----------
    cv : None, int, splitter or iterable
        As scikit-learn takes it.
    X, y : array
        The rows, which splitters only count, and their labels.
    groups : array or None, default=None
        The group of every row, for splitters that keep groups together.

    Returns
    -------
    list of (ndarray, ndarray)
    """
    splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    if not splits:
        raise ValueError(f"cv holds nothing out: {cv!r} gives no split of the rows")
    return [tuple(_checked_rows(rows, fold, len(y)) for rows in sides) for fold, sides in enumerate(splits)]


def _checked_rows(rows, fold, n_samples):
    """Return the numbers of rows that a splitter gives for one side of a fold, checked: it may be the user's own."""
    rows = np.asarray(rows)
    if rows.dtype.kind == "b" and rows.shape == (n_samples,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise ValueError(f"fold {fold} of cv must be two lists of row numbers, got {rows.dtype} of shape {rows.shape}")
    wrong = rows[(rows < 0) | (rows >= n_samples)]
    if len(wrong):
        raise ValueError(f"fold {fold} of cv has row {wrong[0]}, but there are {n_samples} rows, numbered from 0")
    return rows.astype(np.int64, copy=False)


def make_folds(cv, X, labels, groups=None):
    """Return the folds of a cross-validation of rows, wherever they are.

    Parameters
    ----------
    cv : None, int, splitter or iterable
        As scikit-learn takes it. If there are groups, a number means so many folds that keep them together.
    X : ndarray, CSR matrix or RowsElsewhere
    labels : CodedLabels
    groups : array or None, default=None
        The group of every row, which is in memory wherever the rows are.

    Returns
    -------
    NumberedFolds or SplitFolds
    """
    if groups is not None and (cv is None or isinstance(cv, Integral)):
        cv = StratifiedGroupKFold(check_cv(cv, np.arange(2), classifier=True).n_splits)
    if not isinstance(X, RowsElsewhere):
        return SplitFolds(make_splits(cv, X, labels.values(), groups), len(labels))
    if (n_folds := _stratified(cv)) is not None:
        return stratified_folds(labels, n_folds)
    values = labels.values()
    return SplitFolds(make_splits(cv, values, values, groups), len(values))


def checked_groups(groups, X):
    """Return the group of every row as an array in memory, or None where there are none."""
    if groups is None:
        return None
    groups = column_or_1d(np.asarray(groups))
    check_consistent_length(X, groups)
    return groups


def _stratified(cv):
    """Return the number of folds if ``cv`` means stratified folds in the order of the rows, else None."""
    if cv is None or isinstance(cv, Integral):
        cv = check_cv(cv, np.arange(2), classifier=True)
    return cv.n_splits if type(cv) is StratifiedKFold and not cv.shuffle else None


def stratified_folds(labels, n_folds):
    """Return the folds of scikit-learn's ``StratifiedKFold(n_folds)``, from the class and rank of every row alone.

    Each class is cut into consecutive ranks, of which the first fold gets the first, and so on.
    """
    if np.all(labels.counts < n_folds):
        raise ValueError(f"n_splits={n_folds} cannot be greater than the number of members in each class.")
    if labels.counts.min() < n_folds:
        warnings.warn(
            f"The least populated class in y has only {labels.counts.min()} members, which is less than "
            f"n_splits={n_folds}.",
            UserWarning,
            stacklevel=2,
        )
    # Classes in order of appearance lie one after the other, and every n_folds-th place belongs to the same fold.
    counts = labels.counts[labels.appearance]
    ends = np.cumsum(counts)
    places = np.arange(n_folds)
    up_to = [(end - 1 - places) // n_folds + 1 for end in ((ends - counts)[:, None], ends[:, None])]
    last_rank = np.empty((labels.n_classes, n_folds), dtype=np.int64)
    last_rank[labels.appearance] = np.cumsum(up_to[1] - up_to[0], axis=1)

    def fold(codes, ranks):
        return (ranks[:, None] >= last_rank[codes]).sum(axis=1).astype(np.min_scalar_type(n_folds))

    return NumberedFolds(by_rank(fold, labels.codes, labels.n_classes), n_folds)


def held_out_fifths(labels, seed):
    """Return stratified fifths of the rows: one fold if a fifth is enough rows, up to five if it is fewer.

    Every five consecutive rows of a class are dealt to the five fifths in an order that the seed draws.

    Parameters
    ----------
    labels : CodedLabels
    seed : int

    Returns
    -------
    NumberedFolds
    """
    counts = labels.counts

    def fifth(codes, ranks):
        group, place = np.divmod(ranks, HELD_OUT_FOLDS)
        members = group[:, None] * HELD_OUT_FOLDS + np.arange(HELD_OUT_FOLDS)
        drawn = _drawn(seed, codes[:, None], members)
        # The last rows of a class may be fewer than five. Those that are missing come last, and change nothing.
        drawn[members >= counts[codes][:, None]] = np.iinfo(np.uint64).max
        mine = np.take_along_axis(drawn, place[:, None], axis=1)
        return (drawn < mine).sum(axis=1).astype(np.uint8)

    numbers = by_rank(fifth, labels.codes, labels.n_classes)
    enough = ENOUGH_ROWS * MANY_CLASSES // max(MANY_CLASSES, labels.n_classes)
    return NumberedFolds(numbers, min(HELD_OUT_FOLDS, max(1, -(-enough // len(labels)))))


def _drawn(seed, codes, ranks):
    """Return a random number of 64 bits for every (class, rank), which depends on the seed and these alone.

    The numbers are those of the generator splitmix64, so that no state need be kept between parts of the rows.
    """
    with np.errstate(over="ignore"):
        drawn = np.uint64(seed) + np.uint64(2**32) * codes.astype(np.uint64)
        for step in (np.uint64(0), ranks.astype(np.uint64) + np.uint64(1)):
            drawn = drawn + step + np.uint64(0x9E3779B97F4A7C15)
            drawn = (drawn ^ (drawn >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            drawn = (drawn ^ (drawn >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            drawn = drawn ^ (drawn >> np.uint64(31))
    return drawn


def check_classes_of_folds(training, labels, weights=None):
    """Raise an error if a fold trains on fewer than two classes, and warn if it lacks some of several classes.

    Parameters
    ----------
    training : array or RowValues of shape (n_samples, folds)
        How often each fold trains on a row.
    labels : CodedLabels
    weights : array, RowValues or None
        Rows of weight zero do not count.
    """
    if not training.shape[1]:
        return
    n_classes = labels.n_classes  # the function below is sent to workers, and the labels must not travel with it

    def totals(codes, training, weights):
        weighted = training.T if weights is None else training.T * weights
        return np.stack([np.bincount(codes, fold, minlength=n_classes)[:n_classes] for fold in weighted])

    present = total(totals, labels.codes, training, weights) > 0
    wanted = present.any(axis=0)
    lacking = np.flatnonzero((present != wanted).any(axis=1))
    if not len(lacking):
        return
    worst = lacking[np.argmin(present[lacking].sum(axis=1))]
    what = f"fold {worst} of cv trains on no row of class {shown(labels.classes[wanted & ~present[worst]])}"
    if present[worst].sum() < 2:
        raise ValueError(
            f"{what}: all of them are held out. Give more rows of it, fewer folds, splits that keep some of its rows "
            "to train on, or, where C is chosen by them, a C"
        )
    others = f", and {len(lacking) - 1} other folds lack classes, too" if len(lacking) > 1 else ""
    warnings.warn(f"{what}, which it never predicts{others}", UserWarning, stacklevel=3)


def usable_folds(counts, weights):
    """Return the counts without the folds that train on nothing or hold nothing out.

    Parameters
    ----------
    counts : (training, held_out)
        As :meth:`NumberedFolds.counts` returns them.
    weights : array, RowValues or None
        Rows of weight zero do not count.

    Returns
    -------
    training, held_out : array or RowValues
    """

    def used(training, held_out, weights):
        counted = slice(None) if weights is None else weights > 0
        return np.stack([side[counted].sum(axis=0, dtype=np.int64) for side in (training, held_out)])

    usable = np.flatnonzero(total(used, *counts, weights).all(axis=0))
    if len(usable) == counts[0].shape[1]:
        return counts
    return tuple(derived(lambda side: side[:, usable], side, width=len(usable)) for side in counts)
