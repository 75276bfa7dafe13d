"""The first pass over a source: what it finds, and which block it names where something is wrong."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from source_data import Blocks, N, dense

from isrht import ISRHT, ISRHTClassifier, LinearSVM, RowSource
from isrht.files.errors import FileError
from isrht.rows._survey import Survey, naming_block
from isrht.rows.values import gathered


def test_facts_of_all_blocks(rng):
    survey, X = Survey(), sp.random_array((30, 8), density=0.3, format="csr", random_state=rng)
    labels = np.array(["b", "a", "c"])[np.arange(30) % 3]
    for rows, dtype in ((slice(10), np.float32), (slice(10, 30), np.float64)):
        survey.add(X[rows].astype(dtype), labels[rows])
        survey.code(labels[rows], 0, 0)
    facts = survey.facts()
    assert facts.shape == (30, 8)
    assert facts.dtype == np.float64
    assert facts.sparse
    assert_array_equal(gathered(facts.row_nnz), np.diff(X.indptr))
    assert_array_equal(facts.labels.classes, ["a", "b", "c"])
    assert_array_equal(facts.labels.values(), labels)
    assert facts.fault is None


def test_facts_of_dense_blocks_without_labels():
    survey = Survey()
    survey.add(np.ones((3, 2), np.float32), None)
    facts = survey.facts()
    assert (facts.sparse, facts.row_nnz, facts.has_labels, facts.labels) == (False, None, False, None)
    assert facts.dtype == np.float32


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("gone"), ValueError("block 3 (from row 70): 'gone'")),
        (OSError("no disk"), OSError("block 3 (from row 70): no disk")),
        (FileError("rows.svm", "is damaged"), FileError("rows.svm", "is damaged")),
        (MemoryError("too much"), MemoryError("too much")),
    ],
    ids=["any", "system", "file", "memory"],
)
def test_errors_say_from_which_block_they_come(error, expected):
    with pytest.raises(type(expected)) as told, naming_block(3, 70):
        raise error
    assert str(told.value) == str(expected)


def bad(X, y, place, value):
    X = [part.copy() for part in np.array_split(X, 5)]
    X[place][7, 3] = value
    return list(zip(X, np.array_split(y, 5), strict=True))


def missing_file(X, y):
    yield X[:100], y[:100]
    with open("no such file"):
        pass


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda X, y: bad(X, y, 3, np.nan), ValueError, r"block 3 \(from row 1800\): Input contains NaN"),
        (lambda X, y: bad(X, y, 1, np.inf), ValueError, r"block 1 \(from row 600\): Input contains infinity"),
        (lambda X, y: [(X[:9], y[:9]), (X[:, :7], y)], ValueError, r"block 1 \(from row 9\): it has 7 features, but"),
        (lambda X, y: [(X[:9], y[:9]), (X, y[:9])], ValueError, r"block 1 \(from row 9\): it has 3000 rows, but 9 la"),
        (lambda X, y: [(X[:9], y[:9]), X], ValueError, r"block 1 \(from row 9\): it has no labels, unlike"),
        (lambda X, y: [(X, y), (sp.csr_array(X), y)], ValueError, r"block 1 \(from row 3000\): it is sparse, but"),
        (lambda X, y: [(X, y), ([["a"]], ["b"])], ValueError, r"block 1 \(from row 3000\): could not convert"),
        (lambda X, y: lambda: missing_file(X, y), OSError, r"block 1 \(from row 100\): .*no such file"),
        (lambda X, y: [], ValueError, "the source has no rows"),
        (lambda X, y: [(X[:0], y[:0])], ValueError, "the source has no rows"),
        (lambda X, y: iter([(X, y)]), TypeError, "a list_iterator can be iterated only once: give the function"),
        (lambda X, y: 5, TypeError, "needs an iterable of blocks of rows, got builtins.int"),
    ],
)
def test_bad_blocks_are_named(make, error, message, rng):
    X, y = dense(rng)
    with pytest.raises(error, match=message):
        ISRHTClassifier(16, selection="supervised", random_state=0).fit(RowSource(make(X, y)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [(0.5, r"block 1 \(from row 85\): Unknown label type"), (np.nan, r"block 1 \(from row 85\): Input y contains NaN")],
)
def test_labels_that_are_no_classes_matter_only_to_those_who_need_classes(bad, message, rng):
    X, y = dense(rng)
    y = np.where(np.arange(N) == 90, bad, y)
    source = RowSource(Blocks(X, y))
    with pytest.raises(ValueError, match=message):
        LinearSVM().fit(source)
    assert_array_equal(source.labels, y)
    got = ISRHT(8, selection="top", random_state=0).fit(source)
    assert_array_equal(got.selected_columns_, ISRHT(8, selection="top", random_state=0).fit(X).selected_columns_)


def test_blocks_without_names_after_a_block_with_names(rng):
    frame = pd.DataFrame(rng.standard_normal((5, 2)), columns=["a", "b"])
    with pytest.raises(ValueError, match="block 1 .*its columns have no names, unlike those of the first block"):
        RowSource([frame, frame.to_numpy()]).shape  # noqa: B018


@pytest.mark.parametrize("sparse", [False, True])
def test_threads_find_the_same_facts(sparse, rng):
    X = rng.standard_normal((500, 8)) * (rng.random((500, 8)) < 0.4)
    y = np.arange(500) % 3
    parts = [slice(first, first + 50) for first in range(0, 500, 50)]
    blocks = [(sp.csr_array(X[rows]) if sparse else X[rows], y[rows]) for rows in parts]
    sources = [RowSource(blocks) for _ in range(2)]
    for source, n_jobs in zip(sources, (None, 3), strict=True):
        source.survey(n_jobs)
    one, three = sources
    assert (one.shape, one.dtype, one.sparse) == (three.shape, three.dtype, three.sparse)
    assert_array_equal(one.coded_labels.values(), three.coded_labels.values())
    if sparse:
        assert_array_equal(gathered(one.row_nnz), gathered(three.row_nnz))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_bad_block_is_named_however_many_threads_there_are(n_jobs):
    blocks = [np.ones((5, 2)) for _ in range(8)]
    blocks[3][1, 1] = blocks[4][0, 0] = np.nan
    with pytest.raises(ValueError, match=r"block 3 \(from row 15\): .*NaN"):
        LinearSVM(n_jobs=n_jobs).fit(RowSource(blocks), np.arange(40) % 2)


def test_blocks_that_share_memory_are_checked_before_the_next_is_read():
    buffer = np.empty((100, 2))

    def blocks():
        for number in range(20):
            buffer[:] = number
            yield buffer, np.arange(100) % 2

    source = RowSource(blocks)
    source.survey(3)
    assert source.shape == (2000, 2)
    assert_array_equal(np.concatenate(list(source.read(50)))[:, 0], np.repeat(np.arange(20.0), 100))
