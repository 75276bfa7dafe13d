"""Malformed arrays are errors in every kernel, compiled or not, and never crashes."""

import numpy as np
import pytest
from kernel_cases import diagonal_case, diagonal_outputs

from isrht import kernels
from isrht.kernels.records import CsrRows

ONE = np.ones(1)
DIAGONAL = np.ones(10)
COLUMN = np.array([0])
GOOD = CsrRows(np.ones(2), np.array([0, 1], np.int32), np.array([0, 2], np.int32))


def calls_of_sparse_kernels(rng):
    """Return a call of each sparse kernel that takes the rows."""
    engine, out = kernels.engine, np.empty((1, 1))
    _, *case = diagonal_case(rng, 1, 1)
    return {
        "project_csr": lambda x: engine.project_csr(x, DIAGONAL, 16, COLUMN, ONE, out),
        "add_csr_rows": lambda x: engine.add_csr_rows(x, np.array([0]), np.zeros(10)),
        "add_csr_autocorrelation": lambda x: engine.add_csr_autocorrelation(x, np.array([0]), DIAGONAL, np.zeros(16)),
        "add_csr_moments": lambda x: engine.add_csr_moments(x, np.ones((1, 1)), np.ones((1, 1)), np.zeros((10, 3, 1))),
        "moments_of_features": lambda x: engine.moments_of_features(x, np.ones((10, 2, 1)), np.zeros((1, 3, 1))),
        "diagonals_of_features": lambda x: engine.diagonals_of_features(
            x, np.ones((10, 2, 1)), *case, *diagonal_outputs(1, 1), np.zeros((10, 1))
        ),
        "score_csr": lambda x: engine.score_csr(x, np.ones((1, 10)), ONE, out),
    }


def test_rows_that_are_well_formed_pass(kernel, rng):
    for call in calls_of_sparse_kernels(rng).values():
        call(GOOD)


@pytest.mark.parametrize("bad", [[0, 10], [-1, 0], [2**31 - 1, 0]])
def test_column_indices_out_of_range_are_errors(kernel, bad, rng):
    for call in calls_of_sparse_kernels(rng).values():
        with pytest.raises(ValueError, match="column index"):
            call(GOOD._replace(indices=np.array(bad, np.int32)))


@pytest.mark.parametrize("bad", [[0, 3], [-1, 2], [2, 0]])
def test_pointers_that_do_not_increase_or_point_past_the_entries_are_errors(kernel, bad, rng):
    for call in calls_of_sparse_kernels(rng).values():
        with pytest.raises(ValueError, match="indptr"):
            call(GOOD._replace(indptr=np.array(bad, np.int32)))


def test_data_and_indices_that_differ_in_length_are_errors(kernel, rng):
    for call in calls_of_sparse_kernels(rng).values():
        with pytest.raises(ValueError, match="do not fit together"):
            call(GOOD._replace(data=np.ones(3)))


@pytest.mark.parametrize("bad", [[1], [-1]])
def test_chosen_rows_out_of_range_are_errors(kernel, bad):
    engine, chosen = kernels.engine, np.array(bad)
    with pytest.raises(ValueError, match="chosen row"):
        engine.add_csr_rows(GOOD, chosen, np.zeros(10))
    with pytest.raises(ValueError, match="chosen row"):
        engine.add_csr_autocorrelation(GOOD, chosen, DIAGONAL, np.zeros(16))
    with pytest.raises(ValueError, match="chosen row"):
        engine.add_rows(np.ones((1, 10)), chosen, np.zeros(10))
    with pytest.raises(ValueError, match="chosen row"):
        engine.add_squares(np.ones((1, 10)), chosen, DIAGONAL, np.zeros(16))


@pytest.mark.parametrize("bad", [16, -1])
def test_chosen_columns_out_of_range_are_errors(kernel, bad):
    wanted = DIAGONAL, 16, np.array([bad]), ONE, np.empty((1, 1))
    with pytest.raises(ValueError, match="chosen column"):
        kernels.engine.project_csr(GOOD, *wanted)
    with pytest.raises(ValueError, match="chosen column"):
        kernels.engine.project_rows(np.ones((1, 10)), *wanted)
