"""Groups of rows that belong together: never both trained on and held out, in all estimators and nested searches."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVMCV, RowSource

MODELS = {
    "svm": LinearSVMCV([0.1, 1.0]),
    "supervised": ISRHTClassifier(8, selection="supervised", Cs=[0.1, 1.0], random_state=0),
    "top": ISRHTClassifier(8, selection="top", Cs=[0.1, 1.0], random_state=0),
    "boosted": ISRHTClassifier(8, selection="boosted", random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    """Rows of 60 groups, each of one class and with a place of its own, so that a row betrays its group."""
    rng = np.random.default_rng(0)
    groups, labels = np.repeat(np.arange(60), 8), np.repeat(rng.integers(0, 2, 60), 8)
    X = np.repeat(rng.standard_normal((60, 40)), 8, axis=0) + 0.1 * rng.standard_normal((480, 40))
    order = rng.permutation(480)
    return X[order], labels[order], groups[order]


@pytest.mark.parametrize("name", MODELS)
def test_with_groups_nothing_is_learned_from_the_neighbours_of_a_row(name, rows):
    X, y, groups = rows
    model = MODELS[name]
    apart = model.fit(X, y, groups=groups).mean_scores_.max()
    assert apart < 0.65
    assert model.fit(X, y).mean_scores_.max() > apart + 0.1
    elsewhere = model.fit(RowSource(X), y, groups=groups).scores_
    assert_array_equal(elsewhere, model.fit(X, y, groups=groups).scores_)


@pytest.mark.parametrize("name", MODELS)
def test_a_splitter_is_given_the_groups(name, rows):
    X, y, groups = rows
    model = MODELS[name].__class__(**{**MODELS[name].get_params(), "cv": GroupKFold(3)})
    splits = list(GroupKFold(3).split(X, y, groups))
    listed = MODELS[name].__class__(**{**MODELS[name].get_params(), "cv": splits})
    assert_array_equal(model.fit(X, y, groups=groups).scores_, listed.fit(X, y).scores_)
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        model.fit(X, y)


def test_columns_alone_take_groups_too(rows):
    X, y, groups = rows
    by_groups = BoostedISRHT(8, random_state=0).fit(X, y, groups=groups)
    assert by_groups.held_out_score_ < BoostedISRHT(8, random_state=0).fit(X, y).held_out_score_ - 0.1
    assert len(by_groups.fold_scores_) == 5


def test_splits_in_time(rows):
    X, y, _ = rows
    for model in (LinearSVMCV([0.1], cv=TimeSeriesSplit(4)), BoostedISRHT(4, cv=TimeSeriesSplit(4))):
        model.fit(X, y)
    assert LinearSVMCV([0.1], cv=TimeSeriesSplit(4)).fit(X, y).predict_proba(X).shape == (480, 2)


@pytest.mark.parametrize("name", MODELS)
def test_nested_searches_route_groups(name, rows):
    X, y, groups = rows
    seen = []

    class Watching(StratifiedGroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    with sklearn.config_context(enable_metadata_routing=True):
        inner = MODELS[name].__class__(**{**MODELS[name].get_params(), "cv": Watching(3)}).set_fit_request(groups=True)
        scores = cross_val_score(
            make_pipeline(StandardScaler(), inner), X, y, cv=GroupKFold(2), params={"groups": groups}
        )
        assert len(scores) == 2
        assert len(seen) == 6
        GridSearchCV(inner, {"fit_intercept": [True]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    assert len(seen) == 6 + 6 + 3
    assert not any(seen)


def test_groups_must_be_asked_for(rows):
    X, y, groups = rows
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(LinearSVMCV([0.1]), {"fit_intercept": [True]}, cv=GroupKFold(2))
        with pytest.raises(Exception, match="groups.* are passed but are not explicitly set as requested"):
            search.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVMCV([0.1]).fit(X, y, groups=groups[:-1])


def test_a_splitter_that_knows_no_groups_says_so(rows):
    X, y, groups = rows
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        LinearSVMCV([0.1], cv=StratifiedKFold(3)).fit(X, y, groups=groups)
