"""What the search maximises: any score of scikit-learn in memory, sums over rows elsewhere, and the same in both."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, get_scorer, make_scorer, matthews_corrcoef
from svm_data import noisy

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVMCV, RowSource
from isrht.boosting import _measures
from isrht.linear.scoring import ScoredRows

SUMS = ["balanced_accuracy", "neg_log_loss", "neg_brier_score"]
OTHERS = ["roc_auc", "average_precision", "f1", make_scorer(matthews_corrcoef)]


@pytest.fixture(scope="module")
def rare():
    X, y = make_classification(1200, 40, n_informative=6, weights=[0.93], flip_y=0.02, random_state=3)
    return X[:600], y[:600], X[600:], y[600:]


@pytest.mark.parametrize("scoring", SUMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_are_the_scores_of_scikit_learn(rng, scoring, n_classes):
    """One fold holds out all rows, whose scores are known: the sums give what the scorer gives."""
    scores = rng.standard_normal((80, 1 if n_classes == 2 else 3))
    codes, weights = rng.integers(0, n_classes, 80), rng.uniform(0.5, 2, 80)
    rows = FewRows(scores, codes, weights, n_classes)
    summed = _measures.SummedScores(_measures.SUMS[scoring], rows)([FewRows.head])
    given = ScoredRows(scores, np.arange(n_classes))
    if scoring == "neg_brier_score" and n_classes > 2 and sklearn.__version__ < "1.7":
        pytest.skip("scikit-learn 1.6 has no Brier score of several classes")
    expected = _measures.held_out_scorer(BoostedISRHT(), scoring)(given.model(), scores, codes, weights)
    assert_allclose(summed, [expected], rtol=1e-9)


class FewRows:
    """Rows with scores that stand for learned columns."""

    elsewhere = True

    def __init__(self, scores, codes, weights, n_classes):
        self.known, self.roles, self.weights = scores, Codes(codes, n_classes), weights

    def __getitem__(self, chosen):
        return FewRows(self.known[chosen], self.roles.codes[chosen], self.weights[chosen], self.roles.n_classes)

    def held_out_weights(self, path):
        return self.weights

    def sum(self, function, n_jobs=None):
        return function(self)

    class head:
        path = 0

        @staticmethod
        def scores(rows):
            return rows.known


class Codes:
    def __init__(self, codes, n_classes):
        self.codes, self.n_classes = codes, n_classes


@pytest.mark.parametrize("scoring", ["accuracy", *SUMS])
def test_rows_elsewhere_choose_as_rows_in_memory(rare, scoring):
    X, y, *_ = rare
    here, there = (BoostedISRHT(6, scoring=scoring, random_state=0).fit(rows, y) for rows in (X, RowSource(X)))
    assert_allclose(there.fold_scores_, here.fold_scores_, rtol=1e-9)
    assert (there.rounds_, there.C_) == (here.rounds_, here.C_)


@pytest.mark.parametrize("scoring", OTHERS, ids=str)
def test_other_scores_are_for_rows_in_memory(rare, scoring):
    X, y, *_ = rare
    model = ISRHTClassifier(6, scoring=scoring, random_state=0).fit(X, y)
    assert model.mean_scores_[0] >= model.projection_.held_out_score_ - 1e-9  # the cut may have moved
    assert model.projection_.held_out_score_ == pytest.approx(model.projection_.fold_scores_.mean())
    with pytest.raises(ValueError, match="must be a sum over rows, 'accuracy', 'balanced_accuracy'"):
        ISRHTClassifier(6, scoring=scoring, random_state=0).fit(RowSource(X), y)


def test_the_score_that_is_asked_for_is_gained(rare):
    X, y, X_test, y_test = rare
    by_accuracy = ISRHTClassifier(6, random_state=0).fit(X, y)
    by_order = ISRHTClassifier(6, scoring="average_precision", random_state=0).fit(X, y)
    gained, plain = (
        average_precision_score(y_test, model.decision_function(X_test)) for model in (by_order, by_accuracy)
    )
    assert gained >= plain
    assert by_order.projection_.held_out_score_ > 0.3


def test_accuracy_is_accuracy_by_any_name(rare):
    X, y, *_ = rare
    named, plain = (BoostedISRHT(6, scoring=name, random_state=0).fit(X, y) for name in ("accuracy", None))
    assert_array_equal(named.search_scores_, plain.search_scores_)
    asked = BoostedISRHT(6, scoring=get_scorer("accuracy"), random_state=0).fit(X, y)
    assert_allclose(asked.fold_scores_, plain.fold_scores_)


def test_a_fold_without_a_class_has_no_say():
    X, y = noisy(60, 5)
    y[:] = np.arange(60) % 2
    splits = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60, 2))]
    model = BoostedISRHT(3, cv=splits, scoring="roc_auc").fit(X, y)
    assert np.isnan(model.fold_scores_[1])
    assert np.isfinite(model.held_out_score_)


def test_a_score_that_there_is_not_is_an_error(rare):
    X, y, *_ = rare
    with pytest.raises(ValueError, match="best_score"):
        BoostedISRHT(6, scoring="best_score").fit(X, y)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_linear_models_are_chosen_by_probabilities_too(rare, scoring):
    X, y, *_ = rare
    assert np.all(LinearSVMCV([0.1, 1.0], scoring=scoring).fit(X, y).mean_scores_ < 0)
    model = ISRHTClassifier(6, selection="supervised", Cs=[0.1, 1.0], scoring=scoring, random_state=0)
    assert np.all(model.fit(X, y).mean_scores_ < 0)
    assert_allclose(
        LinearSVMCV([0.1], scoring=scoring).fit(RowSource(X), y).scores_,
        LinearSVMCV([0.1], scoring=scoring).fit(X, y).scores_,
        rtol=1e-6,
    )
