"""The kernels of coordinate descent against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import FLOATS, INDICES, descent_case, sparse_case
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.kernels.records import CsrRows, csr_rows

LANES = [1, 4, 8]


def copies(*records):
    return [
        type(record)(*(np.copy(part) if isinstance(part, np.ndarray) else part for part in record))
        for record in records
    ]


def assert_equal_records(found, expected):
    for mine, wanted in zip(found, expected, strict=True):
        for field, left, right in zip(mine._fields, mine, wanted, strict=True):
            assert_array_equal(left, right, err_msg=field)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("width", [1, 5, 300])
def test_descend_rows(kernel, dtype, lanes, intercept, width, rng):
    x = rng.standard_normal((30, width)).astype(dtype)
    case = descent_case(rng, (x**2).sum(axis=1), width, lanes, intercept)
    ours, twins = copies(*case), copies(*case)
    kernels.engine.descend_rows(x, *ours)
    _reference.descend_rows(x, *twins)
    assert_equal_records(ours, twins)
    assert (ours[1].alpha != case[1].alpha).any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("intercept", [True, False])
def test_descend_csr(kernel, dtype, index_type, lanes, intercept, rng):
    x = sparse_case(rng, dtype, index_type, 500)
    case = descent_case(rng, np.full(len(x.indptr) - 1, 50.0), 500, lanes, intercept)
    ours, twins = copies(*case), copies(*case)
    kernels.engine.descend_csr(kernels.engine.CheckedCsr(x, 500), *ours)
    _reference.descend_csr(_reference.CheckedCsr(x, 500), *twins)
    assert_equal_records(ours, twins)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("lanes", LANES)
def test_add_scaled(kernel, dtype, lanes, rng):
    real = np.float64 if lanes == 1 else np.float32
    x = sparse_case(rng, dtype, np.int32, 300)
    dense = sp.csr_array((x.data, x.indices, x.indptr), (40, 300)).toarray()
    factors = rng.standard_normal((40, lanes)).astype(real)
    factors[::3] = 0
    for rows, function in [(x, "add_scaled_csr"), (dense, "add_scaled_rows")]:
        start = rng.standard_normal((300, lanes)).astype(real), rng.standard_normal(lanes).astype(real)
        ours, twins = [part.copy() for part in start], [part.copy() for part in start]
        for engine, sums in [(kernels.engine, ours), (_reference, twins)]:
            getattr(engine, function)(engine.CheckedCsr(rows, 300) if rows is x else rows, factors, *sums)
        assert_array_equal(ours[0], twins[0])
        assert_array_equal(ours[1], twins[1])
        assert_allclose(ours[0], start[0] + dense.T @ factors, rtol=1e-3, atol=1e-4)
        assert_allclose(ours[1], start[1] + factors.sum(axis=0), rtol=1e-4, atol=1e-4)


def dual_objective(x, problems, state):
    """Return the dual objectives, written out from the variables alone."""
    signed = problems.labels * state.alpha
    weights, intercept = x.T @ signed, signed.sum(axis=0)
    quadratic = (weights**2).sum(axis=0) + intercept**2 + (problems.ridge * state.alpha**2).sum(axis=0)
    return state.alpha.sum(axis=0) - quadratic / 2


@pytest.mark.parametrize("lanes", LANES)
def test_the_dual_objective_grows_by_the_gain_and_the_weights_stay_the_sum_of_the_rows(kernel, lanes, rng):
    x = rng.standard_normal((60, 20))
    problems, state, epoch = descent_case(rng, (x**2).sum(axis=1) + 1, 20, lanes, True, start=0.0)
    state.closed[:] = 0
    epoch = epoch._replace(finished=0, stretch=1.0, order=np.arange(60))
    epoch.threshold[:] = np.inf
    epoch.gain[:] = 0
    kernels.engine.descend_rows(x, problems, state, epoch)
    assert_allclose(epoch.gain, dual_objective(x, problems, state), rtol=1e-4)
    assert_allclose(state.weights, x.T @ (problems.labels * state.alpha), rtol=1e-3, atol=1e-4)
    assert (state.alpha >= 0).all()


def test_closed_rows_and_finished_lanes_stay_as_they_are(kernel, rng):
    x = rng.standard_normal((50, 10))
    problems, state, epoch = descent_case(rng, (x**2).sum(axis=1) + 1, 10, 8, True)
    state.closed[:] = 0
    state.closed[::2] = 0b00000101
    epoch = epoch._replace(finished=0b10000000, threshold=np.full(8, np.inf, np.float32))
    before = state.alpha.copy()
    kernels.engine.descend_rows(x, problems, state, epoch)
    assert_array_equal(state.alpha[:, 7], before[:, 7])
    assert_array_equal(state.alpha[::2, [0, 2]], before[::2, [0, 2]])
    assert (state.alpha[1::2, 0] != before[1::2, 0]).any()
    assert epoch.gain[7] == 1


def test_no_lane_depends_on_another(kernel, rng):
    x = csr_rows(sp.random_array((80, 200), density=0.1, format="csr", random_state=rng))
    problems, state, epoch = descent_case(rng, np.full(80, 9.0), 200, 8, True)
    some = slice(2, 6)
    part = (
        problems._replace(labels=problems.labels[:, some].copy(), ridge=problems.ridge[:, some].copy()),
        state._replace(
            alpha=state.alpha[:, some].copy(),
            weights=state.weights[:, some].copy(),
            intercept=state.intercept[some].copy(),
            closed=(state.closed >> 2) & 0b1111,
        ),
        epoch._replace(
            threshold=epoch.threshold[some].copy(),
            finished=(epoch.finished >> 2) & 0b1111,
            gain=epoch.gain[some].copy(),
            violation=epoch.violation[some].copy(),
        ),
    )
    checked = kernels.engine.CheckedCsr(x, 200)
    kernels.engine.descend_csr(checked, problems, state, epoch)
    kernels.engine.descend_csr(checked, *part)
    assert_array_equal(part[1].alpha, state.alpha[:, some])
    assert_array_equal(part[1].weights, state.weights[:, some])
    assert_array_equal(part[2].gain, epoch.gain[some])


def bad_descents(rng):
    problems, state, epoch = descent_case(rng, np.ones(4), 3, 4, True)
    yield (
        "weights and the rows differ",
        (problems, state._replace(weights=state.weights[:2].copy()), epoch),
    )
    yield "4 or 8 lanes", (problems, state._replace(weights=np.zeros((3, 5), np.float32)), epoch)
    yield "labels, ridge and alpha", (problems._replace(ridge=problems.ridge[:3].copy()), state, epoch)
    yield "norms and closed", (problems, state._replace(closed=state.closed[:3].copy()), epoch)
    yield "threshold, gain and violation", (problems, state, epoch._replace(gain=np.zeros(3)))
    yield "chosen row", (problems, state, epoch._replace(order=np.array([4])))
    yield "intercept", (problems, state._replace(intercept=np.zeros(3, np.float32)), epoch)


def test_descents_of_shapes_that_do_not_fit_are_errors(kernel, rng):
    sparse = CsrRows(np.ones(4), np.array([0, 1, 2, 2], np.int32), np.array([0, 1, 2, 3, 4], np.int32))
    for message, records in bad_descents(rng):
        with pytest.raises(ValueError, match=message):
            kernels.engine.descend_rows(np.ones((4, 3)), *records)
        with pytest.raises(ValueError, match=message):
            kernels.engine.descend_csr(kernels.engine.CheckedCsr(sparse, 3), *records)
    with pytest.raises(ValueError, match="factors"):
        kernels.engine.add_scaled_rows(np.ones((4, 3)), np.ones((3, 1)), np.ones((3, 1)), np.ones(1))
    with pytest.raises(ValueError, match="factors"):
        kernels.engine.add_scaled_csr(
            kernels.engine.CheckedCsr(sparse, 3), np.ones((3, 1)), np.ones((3, 1)), np.ones(1)
        )
    with pytest.raises(ValueError, match="one lane"):
        kernels.engine.add_scaled_rows(np.ones((4, 3)), np.ones((4, 2)), np.ones((3, 2)), np.ones(2))


def test_rows_that_are_no_csr_rows_are_errors_before_any_step(kernel):
    data, indptr = np.ones(3), np.array([0, 1, 3], np.int32)
    for indices, message in [([0, 1, 3], "out of range"), ([0, -1, 1], "out of range"), ([0, 1], "do not fit")]:
        with pytest.raises(ValueError, match=message):
            kernels.engine.CheckedCsr(CsrRows(data, np.array(indices, np.int32), indptr), 3)
    with pytest.raises(ValueError, match="indptr"):
        kernels.engine.CheckedCsr(CsrRows(data, np.zeros(3, np.int32), indptr[::-1].copy()), 3)


@pytest.mark.parametrize("stretch", [0.5, 1.0, 1.7])
def test_stretched_steps_are_as_much_longer(kernel, stretch):
    problems, state, epoch = descent_case(np.random.default_rng(0), np.ones(1), 1, 1, False, start=0.0)
    state.closed[:] = 0
    epoch = epoch._replace(order=np.zeros(1, int), finished=0, stretch=stretch)
    epoch.gain[:] = 0
    kernels.engine.descend_rows(np.ones((1, 1)), problems, state, epoch)
    curvature = problems.norms[0] + problems.ridge[0, 0]
    assert_allclose(state.alpha, [[stretch / curvature]])
    assert_allclose(epoch.gain, [stretch * (1 - stretch / 2) / curvature])
