import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.datasets import load
from isrht.datasets.loading import NotAvailable, checksum_of, scale, split
from isrht.datasets.registry import DATASETS, Description, KnownFacts


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A set in two small files."""
    facts = (KnownFacts(3, 4), KnownFacts(2, 4))
    description = Description(
        "tiny", "tiny", 1, (1,), "given", "minmax", files=("a", "a.t"), facts=facts, labels="odd_digits"
    )
    monkeypatch.setitem(DATASETS, "tiny", description)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    (tmp_path / "a").write_text("1 1:1\n2 2:1\n10 4:3\n")
    (tmp_path / "a.t").write_text("3 1:5\n4 3:1\n")
    return tmp_path


def test_a_set_in_two_files_keeps_its_split(tiny):
    dataset = load("tiny", tiny)
    assert dataset.X.shape == (5, 4)
    np.testing.assert_array_equal(dataset.y, [0, 1, 1, 0, 1])
    np.testing.assert_array_equal(dataset.train, [0, 1, 2])
    np.testing.assert_array_equal(dataset.test, [3, 4])
    assert dataset.checksum == checksum_of("tiny", tiny)


def test_labels_are_numbered_in_both_files_alike(tiny, monkeypatch):
    monkeypatch.setitem(DATASETS, "tiny", replace(DATASETS["tiny"], labels="as_they_are"))
    (tiny / "a.t").write_text("10 1:5\n2 3:1\n")
    np.testing.assert_array_equal(load("tiny", tiny).y, [0, 1, 2, 2, 1])


def test_the_checksum_tells_other_data(tiny):
    before = checksum_of("tiny", tiny)
    (tiny / "a").write_text("1 1:1\n2 2:1\n10 4:4\n")
    assert checksum_of("tiny", tiny) != before


def test_a_missing_set_says_what_to_do(tiny):
    with pytest.raises(NotAvailable, match=r"real-sim: no real-sim .* fetch it with 'isrht data fetch real-sim'"):
        load("real-sim", tiny)
    with pytest.raises(NotAvailable, match="cannot be downloaded"):
        checksum_of("gisette-like", tiny)


def test_the_drawn_split_is_stratified_and_fixed():
    y = np.repeat([0, 1], [80, 20])
    train, test = split(0.7, y)
    assert (len(train), len(test), y[train].sum()) == (70, 30, 14)
    assert len(np.intersect1d(train, test)) == 0
    np.testing.assert_array_equal(train, split(0.7, y)[0])


def test_dense_data_are_scaled_to_one_by_the_training_rows():
    train, test = scale("minmax", np.array([[0.0, 5], [10, 5]]), np.array([[20.0, 5]]))
    np.testing.assert_allclose(train, [[-1, -1], [1, -1]])
    np.testing.assert_allclose(test, [[3, -1]])


def test_scaling_keeps_sparse_data_sparse():
    """The paper would make them dense (errata 12)."""
    X = sp.csr_matrix(np.array([[0, 4.0], [-8, 0]]))
    train, test = scale("largest", X, X)
    assert train.nnz == test.nnz == 2
    np.testing.assert_allclose(train.toarray(), [[0, 0.5], [-1, 0]])


def test_loading_gives_the_checksum_that_plans_use():
    assert load("digits").checksum == checksum_of("digits")


def test_photographs_without_pillow_are_not_available(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    for function in (load, checksum_of):
        with pytest.raises(NotAvailable, match=r"photographs: Pillow is missing: pip install 'isrht\[data\]'"):
            function("photographs")
