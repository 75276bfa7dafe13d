"""Values of a piece in files: as they were, mapped, aligned, and made by recipes where there is no file."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows.spark._store import ALIGNMENT, PIECE, MissingValue, Store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    return tmp_path


def test_values_come_back_as_they_were(rng):
    X, rows = rng.standard_normal((50, 7)), sp.random_array((40, 30), density=0.2, format="csr", random_state=rng)
    values = [X, X[:, ::2], X.T, X[:0], rows, np.array(["no", "yes"], object), {"a": (1, None)}]
    size = Store("rows", 0).put(3, values)
    got = Store("rows", 0).value(3)
    for one, other in zip(values[:4], got[:4], strict=True):
        assert_array_equal(one, other)
    assert (got[4] != rows).nnz == 0
    assert_array_equal(got[5], values[5])
    assert got[6] == values[6]
    assert size >= X.nbytes


def test_arrays_are_mapped_aligned_and_not_to_be_written_to(rng):
    Store("rows", 0).put(3, (rng.random(13), rng.random(100)))
    for array in Store("rows", 0).value(3):
        assert not array.flags.writeable
        assert not array.flags.owndata
        assert array.ctypes.data % ALIGNMENT == 0


def doubled(value):
    return 2 * value


def test_what_has_no_file_is_made_by_its_recipe_and_kept_if_asked(folder):
    recipes = {1: (pickle.dumps(doubled), [PIECE], False), 2: (pickle.dumps(doubled), [1], True)}
    assert Store("rows", 5, recipes).value(2) == 20
    assert [path.name for path in (folder / "rows").iterdir()] == ["2-5"]
    assert Store("rows", 5).value(2) == 20
    with pytest.raises(MissingValue, match="1"):
        Store("rows", 5).value(1)
    with pytest.raises(MissingValue, match="2"):
        Store("rows", 4).value(2)


def test_a_value_that_cannot_be_written_leaves_no_file(folder):
    with pytest.raises((pickle.PicklingError, AttributeError)):
        Store("rows", 0).put(1, lambda: None)
    assert list((folder / "rows").iterdir()) == []


def test_forgotten_values_and_rows_are_removed(folder):
    for name in ("rows", "others"):
        for number in (1, 2):
            Store(name, 0).put(number, number)
    Store("rows", 0).forget([1, 7], ["others", "never"])
    assert [str(path.relative_to(folder)) for path in folder.rglob("*-0")] == ["rows/2-0"]
