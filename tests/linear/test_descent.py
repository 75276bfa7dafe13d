"""Coordinate descent in lanes: the optimum of the dual, whatever shares the lanes, and a good start for the next C."""

import numpy as np
import pytest
import scipy.sparse as sp
from svm_data import noisy

from isrht import LinearSVM, LinearSVMCV
from isrht.linear._descent import DescentRows, Lanes, Turn, everyone_from, lanes_for, squared_norms
from isrht.linear.path import fit_path, training_blocks


def problems(n_problems, n_samples=120, n_features=30):
    """Return rows, and the labels and weights of some problems, in each of which every seventh row has no weight."""
    X, y = noisy(n_samples, n_features)
    signs = np.tile(2.0 * y - 1, (n_problems, 1))
    weights = np.ones((n_problems, n_samples))
    for p in range(n_problems):
        weights[p, p::7] = 0
    return X, signs, weights


def optimum(X, signs, weights, C):
    (solution,) = fit_path(training_blocks(X, (signs > 0).astype(int), weights), [C])
    return np.append(solution.coef[0, 0], solution.intercept[0, 0])


@pytest.mark.parametrize(("n_problems", "n_lanes", "exact"), [(1, 1, 1e-6), (3, 4, 1e-3), (5, 8, 1e-3), (8, 8, 1e-3)])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_all_problems_come_to_their_optimum(n_problems, n_lanes, exact, container, C):
    X, signs, weights = problems(n_problems)
    lanes = Lanes(DescentRows(container(X), True), signs, weights, n_lanes)
    epochs, settled = lanes.solve(Turn(C, exact**2 / 10, 10_000, (0, 0)))
    assert settled.all()
    assert (epochs < 10_000).all()
    for p, found in enumerate(lanes.weights_of_problems()):
        expected = optimum(X, signs[p], weights[p], C)
        np.testing.assert_allclose(found, expected, atol=2 * exact * np.linalg.norm(expected))


def test_a_problem_does_not_depend_on_what_it_shares_its_lanes_with():
    X, signs, weights = problems(7)
    rows = DescentRows(sp.csr_array(X), True)
    turns = [Turn(C, 1e-6, 100, (0, k)) for k, C in enumerate([0.1, 0.2, 0.4, 3.0])]
    together = Lanes(rows, signs, weights, 8)
    apart = [Lanes(rows, signs[:3], weights[:3], 4), Lanes(rows, signs[3:], weights[3:], 4)]
    for turn in turns:
        epochs, _ = together.solve(turn)
        some = [lanes.solve(turn)[0] for lanes in apart]
        np.testing.assert_array_equal(epochs, np.concatenate(some))
        np.testing.assert_array_equal(
            together.weights_of_problems(), np.vstack([lanes.weights_of_problems() for lanes in apart])
        )


def test_another_seed_takes_another_way_to_the_same_optimum():
    X, signs, weights = problems(1)
    found = []
    for seed in (0, 0, 1):
        lanes = Lanes(DescentRows(X, True), signs, weights, 1)
        lanes.solve(Turn(1.0, 1e-14, 1000, (seed, 0)))
        found.append(lanes.weights_of_problems())
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()
    np.testing.assert_allclose(found[0], found[2], rtol=1e-4)


def test_a_path_takes_fewer_epochs_than_the_same_cs_from_nothing():
    X, signs, weights = problems(4, 400, 100)
    rows = DescentRows(X, True)
    path, Cs = Lanes(rows, signs, weights, 4), [0.25, 0.5, 1.0, 2.0]
    warm = [path.solve(Turn(C, 1e-5, 1000, (0, 0)))[0].sum() for C in Cs]
    cold = [Lanes(rows, signs, weights, 4).solve(Turn(C, 1e-5, 1000, (0, 0)))[0].sum() for C in Cs]
    assert sum(warm[2:]) < 0.7 * sum(cold[2:])


def test_the_optimum_is_where_a_start_from_it_stays():
    X, signs, weights = problems(1)
    rows, turn = DescentRows(X, True), Turn(1.0, 1e-14, 1000, (0, 0))
    first, again = Lanes(rows, signs, weights, 1), Lanes(rows, signs, weights, 1)
    first.solve(turn)
    again.start_from(first.alpha.T)
    epochs, _ = again.solve(turn)
    assert epochs[0] <= 2
    np.testing.assert_allclose(again.weights_of_problems(), first.weights_of_problems(), rtol=1e-4)


def test_a_problem_goes_on_alone_from_its_lane():
    X, signs, weights = problems(3)
    lanes = Lanes(DescentRows(X, True), signs, weights, 4)
    lanes.solve(Turn(1.0, 1e-5, 1000, (0, 0)))
    alone = lanes.alone(2)
    epochs, settled = alone.solve_exactly(Turn(1.0, 1e-12, 1000, (0, 0)))
    assert settled
    assert epochs < 1000
    np.testing.assert_allclose(
        alone.weights_of_problems()[0], optimum(X, signs[2], weights[2], 1.0), rtol=1e-4, atol=1e-6
    )


def test_too_few_epochs_do_not_settle():
    X, signs, weights = problems(3)
    epochs, settled = Lanes(DescentRows(X, True), signs, weights, 4).solve(Turn(100.0, 1e-9, 2, (0, 0)))
    np.testing.assert_array_equal(epochs, 2)
    assert not settled.any()


@pytest.mark.parametrize("shrinks", [True, False])
def test_rows_are_closed_only_where_a_turn_shrinks(shrinks, monkeypatch):
    X, signs, weights = problems(3)
    rows, closed = DescentRows(X, True), []
    descend = rows.descend

    def watched(problems, state, epoch):
        descend(problems, state, epoch)
        closed.append(state.closed.copy())

    monkeypatch.setattr(rows, "descend", watched)
    lanes = Lanes(rows, signs, weights, 4)
    _, settled = lanes.solve(Turn(1.0, 1e-6, 1000, (0, 0), shrinks=shrinks))
    assert settled.all()
    assert any((one != lanes.absent).any() for one in closed) == shrinks


def test_longer_steps_come_to_the_same_optimum():
    X, signs, weights = problems(1)
    lanes = Lanes(DescentRows(X, True), signs, weights, 1)
    _, settled = lanes.solve(Turn(1.0, 1e-14, 1000, (0, 0), stretch=1.5))
    assert settled
    expected = optimum(X, signs[0], weights[0], 1.0)
    np.testing.assert_allclose(lanes.weights_of_problems()[0], expected, rtol=1e-4, atol=1e-6)


def test_without_an_intercept_there_is_none():
    X, signs, weights = problems(2)
    lanes = Lanes(DescentRows(X, False), signs, weights, 4)
    lanes.solve(Turn(1.0, 1e-4, 100, (0, 0)))
    assert lanes.weights_of_problems().shape == (2, X.shape[1])


@pytest.mark.parametrize(
    ("n_problems", "n_jobs", "lanes", "sizes"),
    [
        (1, 4, 1, [1]),
        (3, 2, 4, [3]),
        (5, 1, 8, [5]),
        (5, 2, 8, [5]),
        (16, 2, 8, [8, 8]),
        (20, 1, 8, [7, 7, 6]),
        (12, 3, 4, [4, 4, 4]),
    ],
)
def test_threads_share_lanes(n_problems, n_jobs, lanes, sizes):
    found, groups = lanes_for(n_problems, n_jobs)
    members = [np.arange(n_problems)[group] for group in groups]
    assert (found, list(map(len, members))) == (lanes, sizes)
    np.testing.assert_array_equal(np.concatenate(members), np.arange(n_problems))


def test_norms_are_those_of_the_rows_also_where_entries_repeat_a_feature():
    X = np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 1e-3]])
    expected = (X**2).sum(axis=1)
    for container in (np.asarray, sp.csr_array, lambda X: X.astype(np.float32)):
        np.testing.assert_allclose(squared_norms(container(X)), expected, rtol=1e-6)
    repeated = sp.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), (1, 2))
    np.testing.assert_array_equal(squared_norms(repeated), [5.0])


def test_rows_that_single_precision_cannot_hold_are_noticed():
    assert DescentRows(np.full((2, 3), 1e10), True).fit_into_float32
    assert not DescentRows(np.full((2, 3), 1e20), True).fit_into_float32


def test_problems_are_alone_where_single_precision_cannot_hold_the_rows():
    assert lanes_for(3, 1, fit_into_float32=False) == (1, [slice(0, 1), slice(1, 2), slice(2, 3)])


def test_bits_of_lanes():
    assert everyone_from(3, 8) == 0b11111000
    assert everyone_from(4, 4) == 0


def test_norms_of_rows_have_the_intercept_where_there_is_one():
    X = np.array([[1.0, -2.0], [0.0, 0.0]])
    np.testing.assert_array_equal(DescentRows(X, True).norms, [6, 1])
    np.testing.assert_array_equal(DescentRows(X, False).norms, [5, 0])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("n_lanes", "exact"), [(1, 1e-14), (4, 1e-6)])
def test_weights_are_the_sum_of_rows_times_variables(container, n_lanes, exact, rng):
    X, signs, weights = problems(1)
    lanes = Lanes(DescentRows(container(X), True), signs, weights, n_lanes)
    variables = rng.random(signs.shape)
    lanes.start_from(variables)
    factors = (variables * signs * weights)[0]
    found, expected = lanes.weights_of_problems()[0], np.append(X.T @ factors, factors.sum())
    np.testing.assert_allclose(found, expected, rtol=0, atol=exact * np.linalg.norm(expected))


def relative_gap(X, signs, weights, C, alpha):
    """Return the duality gap of one problem as a part of its objective, by the formulas alone."""
    w = np.append(X.T @ (alpha * signs), alpha @ signs)
    hinge = np.maximum(0, 1 - signs * (X @ w[:-1] + w[-1]))
    primal, there = 0.5 * w @ w + C * weights @ hinge**2, weights > 0
    dual = alpha.sum() - 0.5 * w @ w - 0.25 * (alpha[there] ** 2 / (C * weights[there])).sum()
    return (primal - dual) / primal


@pytest.mark.parametrize("enough", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_an_exact_solution_has_the_gap_that_was_asked_for(enough, C):
    X, signs, weights = problems(1)
    weights[0, 1::3] = 2.5
    lanes = Lanes(DescentRows(X, True), signs, weights, 1)
    _, settled = lanes.solve_exactly(Turn(C, enough, 1000, (0, 0)))
    gap = relative_gap(X, signs[0], weights[0], C, lanes.alpha[:, 0])
    assert settled
    assert 0 < gap <= enough
    assert lanes._relative_gap(C) == pytest.approx(gap, rel=1e-4)


def test_an_exact_solution_is_given_up_where_epochs_will_not_suffice():
    X, signs, weights = problems(1)
    lanes = Lanes(DescentRows(X, True), signs, weights, 1)
    epochs, settled = lanes.solve_exactly(Turn(1e5, 1e-12, 300, (0, 0)))
    assert not settled
    assert epochs < 300


def start_after(lanes, Cs, variables):
    """Solve for Cs in no epochs, of which each begins with variables of its own; return the last ones that result."""
    for C, start in zip(Cs, variables, strict=True):
        lanes.start_from(start)
        lanes.solve(Turn(C, 1e-6, 0, (0, 0)))
    return lanes.alpha[:, : lanes.n_problems].T.astype(np.float64)


@pytest.mark.parametrize(("n_problems", "n_lanes"), [(1, 1), (3, 4)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_start_is_scaled_to_where_its_objective_is_best(n_problems, n_lanes, fit_intercept, rng):
    """The dual objective is a parabola in the factor, and its slope vanishes at the best one."""
    X, signs, weights = problems(n_problems)
    weights *= 1.5
    lanes = Lanes(DescentRows(X, fit_intercept), signs, weights, n_lanes)
    found = start_after(lanes, [0.7], [rng.random(signs.shape)])
    for alpha, labels, row_weights, w in zip(found, signs, weights, lanes.weights_of_problems(), strict=True):
        there = row_weights > 0
        intercept = [alpha @ labels] if fit_intercept else []
        np.testing.assert_allclose(w, np.append(X.T @ (alpha * labels), intercept), atol=1e-5 * np.linalg.norm(w))
        ridge = 0.5 * (alpha[there] ** 2 / (0.7 * row_weights[there])).sum()
        assert alpha.sum() == pytest.approx(w @ w + ridge, rel=1e-5)


@pytest.mark.parametrize(("n_problems", "n_lanes"), [(1, 1), (3, 4)])
@pytest.mark.parametrize(("C", "power"), [(4.0, 1), (8.0, 2), (2.0, 0), (1.5, 0)])
def test_variables_go_on_as_they_went_from_one_c_to_the_next(n_problems, n_lanes, C, power, rng):
    X, signs, weights = problems(n_problems)
    starts = rng.random((3, *signs.shape))
    starts[0, :, ::5] = starts[2, :, ::4] = 0
    lanes, other = (Lanes(DescentRows(X, True), signs, weights, n_lanes) for _ in range(2))
    before = start_after(other, [1.0], starts[:1])
    lanes.start_from(starts[0])
    for turn in (1.0, 2.0):
        lanes.solve(Turn(turn, 1e-6, 0, (0, 0)))
    found = start_after(lanes, [C], starts[2:])
    change = np.divide(starts[2], before, out=np.ones_like(before), where=(before > 0) & (starts[2] > 0))
    expected = np.where(weights > 0, starts[2], 0) * np.clip(change, 0.5, 2) ** power
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one / one.sum(), other / other.sum(), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.*Scale the features")  # It is right, and not what is tested.
@pytest.mark.parametrize("unit", [1e20, 1e100])
def test_rows_beyond_single_precision_have_the_margin_of_the_same_rows_in_other_units(unit):
    """In such units C does not matter: the largest margin is what is left."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 600), density=0.05, format="csr", random_state=rng)
    y = (X @ rng.standard_normal(600) > 0).astype(int)
    found = LinearSVMCV(Cs=[0.5, 1.0], fit_intercept=False).fit(unit * X, y)
    expected = LinearSVM(1e8, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(unit * found.coef_, expected.coef_, atol=1e-3 * np.abs(expected.coef_).max())
