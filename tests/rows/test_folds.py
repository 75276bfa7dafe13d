import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from isrht import RowSource
from isrht.rows import folds
from isrht.rows.folds import (
    SplitFolds,
    checked_groups,
    held_out_fifths,
    make_folds,
    make_splits,
    stratified_folds,
    usable_folds,
)
from isrht.rows.labels import in_memory, part_by_part
from isrht.rows.values import gathered


def source(n_samples):
    return RowSource(np.zeros((n_samples, 2)))


def sides(some_folds):
    """(train, test) of each, as numbers of rows."""
    training, held_out = map(gathered, some_folds.counts())
    return [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in zip(training.T, held_out.T, strict=True)]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 5))
def test_stratified_folds_are_those_of_scikit_learn(labels, n_folds):
    labels = np.array(list("qbaz"))[labels]
    assume(np.bincount(np.unique(labels, return_inverse=True)[1]).max() >= n_folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = list(StratifiedKFold(n_folds).split(labels, labels))
        got = sides(stratified_folds(part_by_part(labels), n_folds))
    for (train, test), (expected_train, expected_test) in zip(got, expected, strict=True):
        assert_array_equal(train, expected_train)
        assert_array_equal(test, expected_test)


def test_more_folds_than_members_are_the_error_of_scikit_learn():
    labels = np.array([0, 1, 0, 1])
    for fold in (lambda: make_splits(3, labels, labels), lambda: stratified_folds(part_by_part(labels), 3)):
        with pytest.raises(ValueError, match="n_splits=3 cannot be greater than the number of members in each class."):
            fold()


def test_a_small_class_is_warned_of_as_scikit_learn_does():
    labels = np.array([0] * 10 + [1] * 2)
    with pytest.warns(UserWarning, match="least populated class in y has only 2 members") as expected:
        make_splits(5, labels, labels)
    with pytest.warns(UserWarning, match="least populated") as got:
        make_folds(5, source(12), part_by_part(labels))
    assert str(got[0].message) == str(expected[0].message)


@pytest.mark.parametrize(
    "cv", [3, None, StratifiedKFold(4), StratifiedKFold(3, shuffle=True, random_state=1), KFold(2)]
)
def test_rows_past_memory_have_the_folds_of_memory(cv, rng):
    labels = rng.choice(["b", "a"], 50)
    expected = make_folds(cv, np.zeros((50, 2)), in_memory(labels))
    got = make_folds(cv, source(50), part_by_part(labels))
    assert len(got) == len(expected)
    for k, (mine, theirs) in enumerate(zip(sides(got), sides(expected), strict=True)):
        assert_array_equal(mine[0], theirs[0])
        assert_array_equal(mine[1], theirs[1])
        assert_array_equal(got.test(k), mine[1])
        assert_array_equal(expected.test(k), mine[1])
    assert_array_equal(gathered(got.numbers), expected.numbers)


def test_some_of_the_folds(rng):
    got = make_folds(5, source(50), part_by_part(rng.choice(["b", "a"], 50)))
    every, some = got.counts(), got.counts(slice(1, 3))
    for whole, part in zip(every, some, strict=True):
        assert_array_equal(gathered(part), gathered(whole)[:, 1:3])


def test_rows_that_are_held_out_twice_or_never_have_no_number():
    labels = np.arange(20) % 2
    assert make_folds(ShuffleSplit(3, random_state=0), labels[:, None], in_memory(labels)).numbers is None
    train, test = np.array([0, 0, 1]), np.array([2, 3])
    assert SplitFolds([(train, test)], 4).numbers is None
    training, held_out = SplitFolds([(train, test)], 4).counts()
    assert_array_equal(training[:, 0], [2, 1, 0, 0])
    assert_array_equal(held_out[:, 0], [0, 0, 1, 1])


@pytest.mark.parametrize("train", [[0, 0], [1, 2]], ids=["twice", "held out too"])
def test_rows_that_are_trained_on_twice_or_while_held_out_have_no_number(train):
    halves = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    assert_array_equal(SplitFolds(halves, 4).numbers, [1, 1, 0, 0])
    assert SplitFolds([(np.array(train), halves[0][1]), halves[1]], 4).numbers is None


def test_a_cross_validation_that_holds_nothing_out_is_an_error():
    with pytest.raises(ValueError, match="cv holds nothing out"):
        make_splits([], np.zeros((4, 1)), np.arange(4) % 2)


@pytest.mark.parametrize("n_samples", [12, 503])
def test_fifths_are_stratified_and_drawn(n_samples, rng):
    labels = rng.choice(["a", "b", "c"], n_samples, p=[0.7, 0.2, 0.1])
    first, again, other = (
        held_out_fifths(code(labels), seed) for code, seed in ((in_memory, 0), (part_by_part, 0), (in_memory, 1))
    )
    assert_array_equal(first.numbers, gathered(again.numbers))
    assert np.any(first.numbers != other.numbers)
    for label in "abc":
        sizes = np.bincount(first.numbers[labels == label], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_fifths_do_not_follow_the_order_of_the_rows():
    numbers = held_out_fifths(in_memory(np.zeros(50_000)), 3).numbers.reshape(-1, 5)
    counts = np.stack([np.bincount(place, minlength=5) for place in numbers.T])
    assert np.abs(counts - 2000).max() < 200  # five standard deviations
    orders = np.unique(numbers, axis=0, return_counts=True)[1]
    assert len(orders) == 120
    assert np.all(np.abs(orders - 10_000 / 120) < 50)


def test_as_many_fifths_as_are_worth_holding_out(monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH_ROWS", 100)
    assert len(held_out_fifths(in_memory(np.zeros(19)), 0)) == 5
    assert len(held_out_fifths(in_memory(np.zeros(40)), 0)) == 3
    assert len(held_out_fifths(in_memory(np.zeros(100)), 0)) == 1
    assert len(held_out_fifths(in_memory(np.arange(40) % 8), 0)) == 3
    assert len(held_out_fifths(in_memory(np.arange(40) % 16), 0)) == 2


def test_folds_without_weight_are_not_used():
    training, held_out = SplitFolds([([0, 1], [2, 3]), ([2, 3], [0, 1])], 4).counts()
    assert usable_folds((training, held_out), None)[0].shape[1] == 2
    got = usable_folds((training, held_out), np.array([1.0, 1.0, 0.0, 0.0]))
    assert got[0].shape[1] == 0


# --- splits of the user's own ---------------------------------------------------------------------------------------

EVEN, ODD = np.arange(0, 10, 2), np.arange(1, 10, 2)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((EVEN, ODD + 10), "fold 0 of cv has row 11, but there are 10 rows"),
        ((EVEN, [2**40]), "fold 0 of cv has row 1099511627776"),
        ((EVEN - 10, ODD), "fold 0 of cv has row -10"),
        ((EVEN.astype(float), ODD), "fold 0 of cv must be two lists of row numbers, got float64"),
        ((EVEN[:, None], ODD), r"fold 0 of cv must be two lists of row numbers, got int64 of shape \(5, 1\)"),
        ((0, 1), r"fold 0 of cv must be two lists of row numbers, got int64 of shape \(\)"),
        ((np.ones(7, dtype=bool), ODD), r"got bool of shape \(7,\)"),
    ],
)
def test_splits_of_rows_that_are_not_there(split, message):
    with pytest.raises(ValueError, match=message):
        make_splits([split], np.zeros((10, 2)), np.arange(10) % 2)


def test_splits_may_be_lists_masks_and_of_any_integer_type():
    masks = np.arange(10) % 2 == 0, np.arange(10) % 2 == 1
    for split in ((EVEN.tolist(), ODD.tolist()), masks, (EVEN.astype(np.uint8), ODD.astype(np.uint64))):
        (found,) = make_splits([split], np.zeros((10, 2)), np.arange(10) % 2)
        for rows, expected in zip(found, (EVEN, ODD), strict=True):
            assert_array_equal(rows, expected)
            assert rows.dtype == np.int64


def test_groups_stay_together(rng):
    groups = rng.integers(0, 12, 90)
    y = rng.integers(0, 2, 90)
    X = rng.standard_normal((90, 3))
    for rows in (X, RowSource(X)):
        for cv in (4, None, GroupKFold(3), StratifiedGroupKFold(3), LeaveOneGroupOut()):
            folds = make_folds(cv, rows, in_memory(y), groups)
            training, held_out = (np.asarray(side) for side in folds.counts())
            for k in range(len(folds)):
                assert not set(groups[training[:, k] > 0]) & set(groups[held_out[:, k] > 0])
    assert len(make_folds(4, X, in_memory(y), groups)) == 4


@pytest.mark.parametrize("groups", [np.arange(9), np.zeros((10, 2)), "ten rows"])
def test_groups_are_one_for_each_row(groups):
    with pytest.raises(ValueError, match="inconsistent numbers of samples|should be a 1d array"):
        checked_groups(groups, np.zeros((10, 3)))
