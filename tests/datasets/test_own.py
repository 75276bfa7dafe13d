"""Sets of the user's own: a record in a journal makes them known, and they are read like any other."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.datasets import load
from isrht.datasets.own import digest, read, register_all, set_record
from isrht.datasets.registry import DATASETS, describe
from isrht.files import open_rows, write_rows
from isrht.files.opening import find


@pytest.fixture
def sets(monkeypatch):
    """Give the registry, and restore it after the test."""
    known = dict(DATASETS)
    yield DATASETS
    DATASETS.clear()
    DATASETS.update(known)


def wide_rows(path, seed=0):
    X = sp.random(20, 100, 0.05, "csr", random_state=seed).toarray()
    X[-1, -1] = 2.0
    write_rows(path, X, np.arange(20) % 2)
    return path


def recorded(path, test=None, name="mine"):
    facts = open_rows(path).scan()
    return set_record(name, facts, [str(path)], test and [str(test)], {"index_base": 1}, [16, 4])


def test_a_record_makes_a_set_known(tmp_path, sets):
    register_all([{"kind": "environment"}, recorded(wide_rows(tmp_path / "rows")) | {"key": "0123"}])
    mine = describe("mine")
    assert (mine.r, mine.r_grid, mine.split, mine.scale, mine.sparse) == (16, (4, 16), 0.7, "largest", True)
    assert mine.about == "20 rows of rows"
    dataset = load("mine")
    assert sp.issparse(dataset.X)
    assert (dataset.X.shape, len(dataset.train), len(dataset.test)) == ((20, 100), 14, 6)
    assert dataset.checksum == digest(mine)
    assert abs(dataset.scaled[0]).max() <= 1


def test_the_last_record_of_a_name_counts(tmp_path, sets):
    record = recorded(wide_rows(tmp_path / "rows"))
    register_all([record, record | {"about": "another"}])
    assert describe("mine").about == "another"


def test_rows_to_test_on_may_be_given(tmp_path, sets):
    train, test = wide_rows(tmp_path / "train"), wide_rows(tmp_path / "test", seed=1)
    register_all([recorded(train, test)])
    X, y, is_test = read(describe("mine"))
    assert (X.shape, describe("mine").split) == ((40, 100), "given")
    assert (y.tolist(), is_test.tolist()) == ([0, 1] * 20, [False] * 20 + [True] * 20)


def test_columns_that_folders_tell_are_kept(tmp_path, sets, rng):
    pytest.importorskip("pyarrow")
    for name in ("train/day=1", "test/day=2"):
        (tmp_path / name).mkdir(parents=True)
        write_rows(tmp_path / name / "rows.parquet", rng.standard_normal((6, 2)), [0, 1] * 3)
    train, test = find(tmp_path / "train"), find(tmp_path / "test")
    facts = open_rows(tmp_path / "train", label="label").scan()
    record = set_record("mine", facts, train, test, {"label": "label"}, [2])
    register_all([json.loads(json.dumps(record))])
    X, _, is_test = read(describe("mine"))
    assert X[:, 2].tolist() == (is_test + 1.0).tolist()


def test_dense_rows_are_scaled_feature_by_feature_and_kept_as_an_array(tmp_path, sets, rng):
    write_rows(tmp_path / "rows.svm", rng.standard_normal((20, 4)), np.arange(20) % 2)
    register_all([recorded(tmp_path / "rows.svm")])
    assert describe("mine").scale == "minmax"
    assert isinstance(load("mine").X, np.ndarray)


def test_journals_of_earlier_versions_have_another_word_for_scaling(tmp_path, sets):
    register_all([recorded(wide_rows(tmp_path / "rows")) | {"scale": "maxabs"}])
    assert describe("mine").scale == "largest"


def test_names_of_the_package_are_taken(tmp_path, sets):
    path = wide_rows(tmp_path / "rows")
    with pytest.raises(ValueError, match="'digits' is the name of a set of the package: choose another with --name"):
        recorded(path, name="digits")
    register_all([recorded(path)])
    recorded(path)


def test_rows_without_labels_are_refused(tmp_path, sets):
    path = tmp_path / "rows.svm"
    write_rows(path, np.ones((3, 2)))
    register_all([recorded(path)])
    with pytest.raises(ValueError, match="mine: there are no labels; --label names the column of a table"):
        load("mine")
