"""How partitions are loaded within a task."""

import numpy as np
import pytest
from dask_data import da, dask
from numpy.testing import assert_array_equal

from isrht.rows.dask._recipes import HasFutures, loaded, recipes


def rows(number):
    return np.full((2, 3), number)


def test_a_recipe_gives_its_partition():
    parts = [dask.delayed(rows)(number) for number in range(3)]
    for to_be_sent in (False, True):
        for number, recipe in enumerate(recipes(parts, to_be_sent)):
            assert_array_equal(loaded(number, recipe), rows(number))


def test_chunks_of_an_array_are_recipes_of_their_own(rng):
    X = rng.standard_normal((10, 4))
    parts = list((2 * da.from_array(X, chunks=(5, 2)).rechunk((5, 4))).to_delayed().ravel())
    assert_array_equal(np.concatenate([loaded(0, recipe) for recipe in recipes(parts, True)]), 2 * X)


def test_shared_work_is_left_to_dask():
    whole = dask.delayed(rows)(1)
    assert recipes([whole[:1], whole[1:]], False) is None


def test_a_shared_file_handle_is_no_work(rng):
    class Handle:
        shape, dtype, ndim = (4, 2), np.dtype(float), 2

        def __getitem__(self, where):
            return np.ones(self.shape)[where]

    parts = list(da.from_array(Handle(), chunks=(2, 2)).to_delayed().ravel())
    assert_array_equal(loaded(0, recipes(parts, False)[1]), np.ones((2, 2)))


def test_what_workers_have_in_memory_is_no_recipe(client):
    parts = [dask.delayed(rows)(number).persist() for number in range(2)]
    with pytest.raises(HasFutures):
        recipes(parts, True)
    scattered = client.scatter(np.ones((2, 2)))
    with pytest.raises(HasFutures):
        recipes([dask.delayed(np.negative)(scattered)], True)


def test_errors_name_the_partition():
    for error, kind in ((OSError("on fire"), OSError), (KeyError("x"), ValueError)):

        def fail(error=error):
            raise error

        (recipe,) = recipes([dask.delayed(fail)()], False)
        with pytest.raises(kind, match=f"^block 7: {type(error).__name__}"):
            loaded(7, recipe)


def test_memory_that_does_not_suffice_is_no_fault_of_the_partition():
    def fail():
        raise MemoryError("too large")

    (recipe,) = recipes([dask.delayed(fail)()], False)
    with pytest.raises(MemoryError, match="^too large"):
        loaded(7, recipe)
