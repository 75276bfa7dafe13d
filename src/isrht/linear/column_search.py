"""Choose C where every fold chooses its own columns, so that no held-out row has had a say in them.

Columns that were chosen with the labels have seen the labels of every row they were chosen by. A C that is
cross-validated on them looks better than it is, unless the rows held out had no part in it: so each fold fits a
projection of its own to its training rows. Any projection serves that has ``fit_folds``, ``fit_checked``, ``project``,
``to_features`` and ``offsets_``.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from isrht.linear.calibration import FoldModels, calibrated
from isrht.linear.classifier import FixedModel, LinearClassifier, warn_not_converged
from isrht.linear.path import fit_path, training_blocks
from isrht.linear.scoring import FoldAccuracies, held_out_scorer
from isrht.linear.weights import training_weights
from isrht.rows.blocks import RowsElsewhere, take_rows
from isrht.rows.entry import stored
from isrht.rows.folds import check_classes_of_folds, make_folds
from isrht.rows.labels import CodedLabels
from isrht.rows.values import derived, gathered, total
from isrht.rows.weights import in_units
from isrht.support.progress import step
from isrht.support.threads import one_blas_thread


@dataclass(frozen=True)
class Told:
    """What is told of the rows beside X: their labels, weights and groups, checked. The last two may be None."""

    labels: CodedLabels
    weights: Any
    groups: Any


@dataclass(frozen=True)
class ColumnSearch:
    """A search for C on rows whose columns are chosen anew in every fold.

    Parameters
    ----------
    model : LinearClassifier
        The classifier for which C is chosen: its folds, scoring, class weights, threads and options of the solver.
    projection : estimator
        What chooses columns; it is not fitted, and stays so.
    X : rows
        The rows as the projection takes them.
    told : Told
    """

    model: LinearClassifier
    projection: Any
    X: Any
    told: Told

    def scores(self, Cs, unit):
        """Return the score for every C in every fold, and the calibration for the best of them.

        Weights are divided by ``unit`` where they count as rows.
        """
        model, (labels, weights) = self.model, (self.told.labels, self.told.weights)
        folds = make_folds(model.cv, self.X, labels, self.told.groups)
        check_classes_of_folds(folds.counts()[0], labels, weights)
        scores, unsolved, trained = np.empty((len(Cs), len(folds))), 0, []
        with closing(self._trials(folds)) as trials, one_blas_thread():
            for k, (own, blocks, score) in enumerate(trials):
                solutions = []
                for c, solution in enumerate(fit_path(blocks, Cs, labels.n_classes, model._solver_options())):
                    scores[c, k : k + 1] = score(solution)
                    step("fold and C", k * len(Cs) + c + 1, scores.size)
                    unsolved += not solution.converged.all()
                    solutions.append((solution.coef[0], solution.intercept[0]))
                trained.append((own, solutions))
        if unsolved:
            warn_not_converged(model, f"in {unsolved} of {scores.size} pairs of C and fold")
        best = int(np.argmax(scores.mean(axis=1)))
        with one_blas_thread():
            on_features = [weights_of_features(own, *solutions[best]) for own, solutions in trained]
        models = FoldModels(*(np.stack(parts) for parts in zip(*on_features, strict=True)), folds.counts()[1])
        weights = in_units(weights, unit)
        return scores, calibrated(self.X, labels, weights, models, model.class_weight, model.n_jobs)

    def _trials(self, folds):
        """Yield for every fold its projection, the blocks to train on and the function that scores a solution.

        No row is moved: the rows held out weigh nothing in training, and the others weigh nothing in scoring. One pass
        measures the columns for all folds where it can, and rows that must be read are projected for all folds at once.
        """
        X, (labels, weights) = self.X, (self.told.labels, self.told.weights)
        fitted = self.projection.fit_folds(X, labels.numbered(), folds, weights)
        together = fitted is not None and _fit_side_by_side(X, sum(own.n_components_ for own in fitted))
        with projected(fitted, X) if together else nullcontext() as all_kept:
            for k in range(len(folds)):
                training = folds.counts(slice(k, k + 1))[0]
                own = fitted[k] if fitted else self._fitted_to(training)
                with nullcontext([all_kept[k]]) if together else projected([own], X) as (Z,):
                    row_weights = training_weights(training, self.model.class_weight, labels, weights)
                    yield own, training_blocks(Z, labels.codes, row_weights), self._scorer(Z, folds, k)

    def _fitted_to(self, training):
        """Return a projection that is fitted to the rows that a fold trains on. The others belong to no class."""
        times, weights = derived(lambda training: training[:, 0], training), self.told.weights
        if total(lambda times: np.count_nonzero(times > 1), times):
            weights = derived(lambda times, weights: times * (1.0 if weights is None else weights), times, weights)
        return clone(self.projection).fit_checked(self.X, self.told.labels.numbered().only(times), weights)

    def _scorer(self, Z, folds, k):
        """Return a function of a solution: its score on the rows that fold k holds out, whose columns are in Z."""
        model, (labels, weights) = self.model, (self.told.labels, self.told.weights)
        if model.scoring in (None, "accuracy"):
            return FoldAccuracies(Z, labels.codes, weights, folds.counts(slice(k, k + 1))[1], model.n_jobs)
        score, test = held_out_scorer(model, model.scoring), folds.test(k)
        held_out, y, weights = take_rows(Z, test), labels.values()[test], gathered(weights)
        kept = None if weights is None else weights[test]

        def score_solution(solution):
            return score(FixedModel.of(model.classes_, solution.coef[0], solution.intercept[0]), held_out, y, kept)

        return score_solution


def weights_of_features(projection, coef, intercept):
    """Return weights and intercepts on the features that a projection takes, from those on its columns."""
    return projection.to_features(coef), intercept - coef @ projection.offsets_


@contextmanager
def projected(projections, X):
    """Give the projected rows of X, for each of the projections.

    They are arrays if X is in memory. Otherwise they are rows, which are kept where X is until the context ends.
    """
    if not isinstance(X, RowsElsewhere):
        yield [projection.project(X) for projection in projections]
        return
    wanted = [(projection.project, projection.n_components_) for projection in projections]
    with stored(X, wanted, projections[0].n_jobs) as kept:
        yield kept


def _fit_side_by_side(X, n_components):
    """Say whether the columns of all folds should be kept at once, which pays for rows that are dear to read.

    It does if these columns take less room than the rows themselves; otherwise each fold projects in its turn.
    """
    if not isinstance(X, RowsElsewhere):
        return False
    return n_components * X.shape[0] <= (1.5 * X.nnz if X.sparse else X.shape[0] * X.shape[1])
