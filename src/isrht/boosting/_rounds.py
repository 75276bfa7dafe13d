"""One round of learning: new diagonals from the residuals, the columns behind them, and the small SVMs on all columns.

A round takes the residual g of a small SVM on the columns so far and asks every feature how sure it is to help:
``z_k = v_k / se_k``, the gradient ``v = X'g`` (features centred) over its standard error. The diagonal is z,
soft-thresholded at tau, so that column 0 of H, which adds up all features, points along what is still unexplained; no
random sign cancels it. The rows are never rotated for this: a round is two passes over them, one for the moments
``X'g, X'g^2, (X*X)'g^2`` and one for the new column; rows stored by feature (:mod:`isrht.rows.by_feature`) need one for
both. What is kept of every row, its columns among them, is in :mod:`isrht.boosting._rows`.

Several paths (candidates for the diagonal, folds of a cross-validation) grow side by side and share every pass. A
fold is a column of row weights, zero where rows are held out: no row is copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht.boosting._contrasts import best_contrasts
from isrht.boosting._training import train
from isrht.linear.scores import linear_scores
from isrht.projections.diagonals import Diagonals, class_grams, leading_directions


def grow(X, rows, features, paths, per_round=1, n_jobs=None):
    """Let all paths that are not done learn at most ``per_round`` new columns each, and train their small SVMs.

    Parameters
    ----------
    X : rows
        Array, CSR matrix, rows stored by feature, or rows elsewhere.
    rows : LearnedRows
        What is known of the same rows; it takes up the new columns.
    features : Features
    paths : iterable of Path
    per_round : int, default=1
    n_jobs : int or None, default=None
    """
    paths = [path for path in paths if not path.done and path.room(per_round)]
    if not paths:
        return
    directions = _directions(X, rows, features, paths, per_round, n_jobs)
    owner = np.repeat(np.arange(len(paths)), [len(each.T) for each in directions])
    new = Diagonals(features, paths, owner)
    new.make(X, rows, _Sides([path.head for path in paths], directions), n_jobs)
    added = [_extend(path, new, mine, gram) for path, mine, gram in zip(paths, new.mine, new.grams, strict=True)]
    growing = [path for path in paths if not path.done]
    if growing:
        heads, first = [path.head for path in paths], [mine.start for mine in new.mine]
        write = _Writer(new.matrix, new.offsets, heads, first, added)
        if new.products is None:
            rows.append(X, write, max(path.size for path in growing), n_jobs)
        else:
            write.columns(new.products - new.offsets, rows)
        train(rows, growing, n_jobs)


def _extend(path, new, mine, gram):
    """Give a path its diagonals, which are ``mine`` among the new ones. Return the columns that follow from them."""
    columns = path.extend(new.norms[mine], gram)
    path.done = not columns
    if path.n_contrasts:
        signals = [new.signals[:, mine.start + column.source] for column in columns]
        path.contrasts += [best_contrasts(signal, path.n_contrasts) for signal in signals]
    return columns


def _directions(X, rows, features, paths, per_round, n_jobs):
    """Return which combinations of the classes' residuals the new columns are to explain: an array for each path.

    There is a combination for each new column, as many as a path has room for: an array (classes, combinations).
    """
    n_problems = paths[0].n_problems
    if n_problems == 1:
        return [np.ones((1, 1))] * len(paths)
    weigh = _Residuals([path.head for path in paths])
    grams = class_grams(X, rows, weigh, n_problems, features, paths, n_jobs)
    return [leading_directions(gram, path.room(per_round)) for path, gram in zip(paths, grams, strict=True)]


@dataclass(frozen=True)
class _Residuals:
    """A function of some rows: weights times residuals of some of the paths, an array (rows, paths times classes)."""

    heads: list

    def __call__(self, rows, numbers):
        heads = [self.heads[number] for number in numbers]
        return np.hstack([rows.training_weights(head.path)[:, None] * head.residual(rows) for head in heads])


@dataclass(frozen=True)
class _Sides:
    """A function of some rows: weights times g and times g^2, for the combinations g of residuals to be explained."""

    heads: list
    directions: list

    def __call__(self, rows):
        pulls = [head.residual(rows) @ each for head, each in zip(self.heads, self.directions, strict=True)]
        weighted = [rows.training_weights(head.path)[:, None] * g for head, g in zip(self.heads, pulls, strict=True)]
        return np.hstack(weighted), np.hstack([wg * g for wg, g in zip(weighted, pulls, strict=True)])


@dataclass(frozen=True)
class _Writer:
    """A function of some rows of X and what is known of them: it writes new columns behind those that they have.

    Parameters
    ----------
    matrix : array of shape (n_features, n_new)
        The new diagonals of all paths, or None where the products with them are known already.
    offsets : array of shape (n_new,)
        What the mean row gives, which is taken away.
    heads : list of Head
    first : list of int
        For each path the number of the first of its new diagonals.
    added : list of lists of NewColumn
    """

    matrix: np.ndarray | None
    offsets: np.ndarray
    heads: list
    first: list
    added: list

    def __call__(self, X, rows):
        self.columns(linear_scores(X, self.matrix.T, -self.offsets)[0], rows)

    def columns(self, raw, rows):
        """Write the columns that follow from the products of the rows with the new diagonals, ``raw``."""
        for head, first, added in zip(self.heads, self.first, self.added, strict=True):
            for t, new in enumerate(added, start=head.size - len(added)):
                before, column = rows.columns_of(head.path, t), rows.columns[t, head.path]
                column[:] = (raw[:, first + new.source] * new.scale - before @ new.overlap) / new.remainder
