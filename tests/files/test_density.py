import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files.density import is_smaller_dense, smaller_form


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_smaller_form_takes_the_fewer_bytes(rng, dtype):
    for density in (0.1, 0.4, 0.6, 0.7, 0.9):
        X = sp.random(50, 40, density, "csr", dtype=dtype, random_state=rng)
        of_csr, of_array = X.data.nbytes + X.indices.nbytes, X.toarray().nbytes
        found = smaller_form(X)
        assert sp.issparse(found) == (of_csr < of_array)
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X.toarray())


def test_arrays_stay_as_they_are():
    X = np.zeros((3, 2))
    assert smaller_form(X) is X


def test_equal_sizes_count_as_smaller():
    assert is_smaller_dense(2, (1, 3))
    assert not is_smaller_dense(1, (1, 3))
