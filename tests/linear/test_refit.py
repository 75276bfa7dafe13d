"""Training on all rows may begin before the largest C has been tried."""

import numpy as np
import pytest
import scipy.sparse as sp

from isrht import LinearSVMCV
from isrht.linear._refit import EarlyRefit


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_begun_is_not_done_again(n_jobs):
    solved = []

    def solve(C, start):
        solved.append(C)
        return C, start

    refit = EarlyRefit(solve, n_jobs)
    with refit:
        assert list(refit.beside(iter([1, 2, 3]))) == [1, 2, 3]
        for C in (1.0, 1.0, 2.0):
            refit.begin(C, "here")
    assert refit.solution(1.0, "here") == (1.0, "here")
    assert refit.solution(2.0, "here") == (2.0, "here"), "it may have been dropped while it waited"
    assert refit.solution(4.0, "there") == (4.0, "there")
    assert solved == [1.0, 2.0, 4.0]


def test_errors_of_the_path_and_of_the_training_come_out():
    def path():
        yield 1
        raise ValueError("of the path")

    def solve(C, start):
        raise ValueError("of the training")

    refit = EarlyRefit(solve, 2)
    with pytest.raises(ValueError, match="of the path"), refit:
        list(refit.beside(path()))
    refit = EarlyRefit(solve, 2)
    with refit:
        refit.begin(1.0, None)
    with pytest.raises(ValueError, match="of the training"):
        refit.solution(1.0, None)


@pytest.mark.parametrize("patience", [None, 1])
def test_a_search_in_two_threads_gives_the_same_bits(patience):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 3000), density=0.01, random_state=rng, format="csr")
    y = (X @ rng.standard_normal(3000) + 0.3 * rng.standard_normal(300) > 0).astype(int)
    one, two = (LinearSVMCV(n_jobs=n_jobs, patience=patience, random_state=0).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert one.C_ == two.C_
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
