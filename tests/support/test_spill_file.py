import gc
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.support.spill_file import SpillFile


@pytest.mark.parametrize("has_preadv", [True, False])
def test_what_is_appended_is_read_again_and_mapped(has_preadv, rng, monkeypatch):
    if not has_preadv:
        monkeypatch.delattr(os, "preadv", raising=False)
    values, file = rng.standard_normal((50, 3)), SpillFile("rows")
    for start in range(0, 50, 7):
        file.append(values[start : start + 7])
    some = np.empty((10, 3))
    file.read_into(some, start=20 * 3 * 8)
    assert_array_equal(some, values[20:30])
    assert_array_equal(file.mapped(np.float64, (50, 3)), values)


@pytest.mark.parametrize("has_pwrite", [True, False])
def test_parts_are_written_to_their_places_by_threads(has_pwrite, rng, monkeypatch):
    if not has_pwrite:
        monkeypatch.delattr(os, "pwrite", raising=False)
    X, file = rng.standard_normal((200, 7)), SpillFile("rows")
    starts = rng.permutation(np.arange(0, 200, 5))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda start: file.write_at(X[start : start + 5], start * X.strides[0]), starts.tolist()))
    assert_array_equal(file.mapped(np.float64, X.shape), X)


def test_it_has_no_name_where_files_need_none_and_closes_with_its_user(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = SpillFile("rows")
    mapped = file.mapped(np.int8, (5,))
    mapped[:] = 3
    has_name = tempfile.TemporaryFile is tempfile.NamedTemporaryFile  # on Windows
    assert len(os.listdir(tmp_path)) == has_name
    inner = file._file
    del file
    gc.collect()
    assert inner.closed
    assert mapped.sum() == 15  # the mapping outlives the file


def test_a_file_that_was_cut_short_is_an_error():
    file = SpillFile("projected rows")
    file.append(np.zeros(3))
    with pytest.raises(OSError, match="temporary file of the projected rows has been cut short"):
        file.read_into(np.empty(4), start=0)


def test_room_is_made_without_posix(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    file = SpillFile("rows")
    file.mapped(np.float64, (4, 100))[:] = 7
    file.reserve(2**21)
    assert os.fstat(file._file.fileno()).st_size == 2**21
    file.reserve(100)
    assert os.fstat(file._file.fileno()).st_size == 2**21


def test_a_full_disk_is_said(monkeypatch):
    file = SpillFile("labels")

    class Full:
        fileno = staticmethod(file._file.fileno)

        def write(self, data):
            raise OSError(28, "No space left on device")

        truncate = write

    monkeypatch.setattr(file, "_file", Full())
    for use in (lambda: file.append(np.zeros(3)), lambda: file.mapped(np.float64, (3, 3))):
        with pytest.raises(OSError, match="labels could not be kept in .*No space left on device.*TMPDIR"):
            use()
