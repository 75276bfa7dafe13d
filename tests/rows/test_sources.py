"""Rows from files and iterators, which give the models that the same rows give in memory."""

import os
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from source_data import Blocks, N, assert_same_model, dense, single, sparse, three_classes

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, RowSource
from isrht.files import _libsvm
from isrht.files.errors import FileError
from isrht.files.opening import open_rows
from isrht.files.writing import write_rows

SETS = (dense, three_classes, single, sparse)
MODELS = {
    "supervised": ISRHTClassifier(16, selection="supervised", random_state=0, Cs=[0.1, 1, 10]),
    "scaled, top": ISRHTClassifier(
        16, selection="top", scale="maxabs", class_weight="balanced", random_state=0, Cs=[0.1, 1, 10], cv=3
    ),
    "centred, roc_auc": ISRHTClassifier(
        16,
        selection="supervised",
        center=True,
        scoring="f1_macro",
        cv=ShuffleSplit(2, random_state=0),
        random_state=0,
        Cs=[0.1, 1],
    ),
    "sketched": ISRHTClassifier(16, selection="supervised", sketch_size=64, n_score_samples=500, C=1.0, random_state=0),
    "boosted": ISRHTClassifier(2, selection="boosted", scale="maxabs", random_state=0),
    "LinearSVM": LinearSVM(),
    "LinearSVMCV": LinearSVMCV(Cs=[0.1, 1], cv=3),
    "LinearSVMCV, f1": LinearSVMCV(Cs=[0.1, 1], cv=3, scoring="f1_macro", refit=False),
}


def clone_of(model, **parameters):
    return type(model)(**{**model.get_params(deep=False), **parameters})


@pytest.mark.parametrize("make", SETS)
@pytest.mark.parametrize("name", MODELS)
def test_a_source_gives_the_model_of_the_rows_in_memory(make, name, rng):
    X, y = make(rng)
    expected = clone_of(MODELS[name]).fit(X, y)
    for size, n_jobs in ((37, None), (1000, 2), (N, None)):
        got = clone_of(MODELS[name], n_jobs=n_jobs).fit(RowSource(Blocks(X, y, size)))
        assert_same_model(got, expected, X)
    assert_array_equal(got.predict(RowSource(Blocks(X))), expected.predict(X))


@pytest.mark.parametrize("make", [dense, sparse])
def test_weights_count_as_they_do_in_memory(make, rng):
    X, y = make(rng)
    weights = rng.random(N) * (rng.random(N) < 0.9)
    for name in ("supervised", "scaled, top", "boosted", "LinearSVMCV"):
        expected = clone_of(MODELS[name]).fit(X, y, weights)
        assert_same_model(clone_of(MODELS[name]).fit(RowSource(Blocks(X, y)), None, weights), expected, X)


@pytest.mark.parametrize("selection", ["uniform", "importance", "top", "supervised"])
@pytest.mark.parametrize("make", SETS)
def test_projection_is_that_of_memory_and_of_partial_fit(make, selection, rng):
    X, y = make(rng)
    expected = ISRHT(16, selection=selection, random_state=0).fit(X, y)
    got = ISRHT(16, selection=selection, random_state=0, n_jobs=2).fit(RowSource(Blocks(X, y)))
    by_parts = ISRHT(16, selection=selection, random_state=0)
    for X_block, y_block in Blocks(X, y, 400):
        by_parts.partial_fit(X_block, y_block)
    for model in (got, by_parts):
        assert_array_equal(model.selected_columns_, expected.selected_columns_)
        assert_array_equal(model.transform(X), expected.transform(X))
    assert_array_equal(got.transform(RowSource(Blocks(X))), expected.transform(X))
    if selection != "uniform":
        assert_array_equal(got.statistics_.sums, expected.statistics_.sums)


def test_boosted_columns_are_those_of_memory(rng):
    X, y = three_classes(rng)
    expected = BoostedISRHT(12, random_state=0, cv=3).fit(X, y)
    got = BoostedISRHT(12, random_state=0, cv=3).fit(RowSource(Blocks(X, y)))
    assert_allclose(got.transform(RowSource(Blocks(X))), expected.transform(X), rtol=1e-8, atol=1e-10)
    assert got.C_ == expected.C_
    assert got.rounds_ == expected.rounds_


def test_data_frames_keep_their_names(rng):
    X, y = dense(rng)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(90)])
    expected = ISRHTClassifier(16, selection="supervised", random_state=0).fit(frame, y)
    source = RowSource([(frame[:1000], y[:1000]), (frame[1000:], y[1000:])])
    got = ISRHTClassifier(16, selection="supervised", random_state=0).fit(source)
    assert_array_equal(got.feature_names_in_, frame.columns)
    assert_same_model(got, expected, frame)
    assert_array_equal(got.predict(source), expected.predict(frame))
    with pytest.raises(ValueError, match="block 1 .from row 1000.: its columns have other names"):
        ISRHT(4).fit(RowSource([(frame[:1000], y[:1000]), (frame[frame.columns[::-1]][1000:], y[1000:])]))


@pytest.mark.parametrize("kind", ["parquet", "csv", "pyarrow", "pyarrow without pandas"])
def test_columns_of_files_and_of_arrow_keep_their_names(kind, rng, tmp_path, monkeypatch):
    X, y = dense(rng)
    frame = pd.DataFrame(X[:, :5], columns=list("vwxyz")).assign(label=y)
    turned = frame[[*"zyxwv", "label"]]

    def source(frame):
        if kind.startswith("pyarrow"):
            return RowSource(pytest.importorskip("pyarrow").table(frame), label="label")
        path = tmp_path / f"{frame.columns[0]}.{kind}"
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
        return RowSource(path, label="label")

    rows, other = source(frame), source(turned)
    if kind == "pyarrow without pandas":
        monkeypatch.setitem(sys.modules, "pandas", None)
    model = LinearSVM().fit(rows)
    assert_array_equal(model.feature_names_in_, list("vwxyz"))
    assert model.predict(rows).shape == y.shape
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other)


def test_lists_are_pairs_as_loaders_give_them(rng):
    X, y = dense(rng)
    pairs = RowSource(lambda: ([X[start : start + 500], y[start : start + 500]] for start in range(0, N, 500)))
    assert_same_model(LinearSVM().fit(pairs), LinearSVM().fit(X, y), X)
    assert_array_equal(pairs.labels, y)


def test_labels_are_kept_where_an_iterator_fills_one_buffer(rng):
    X, y = dense(rng)

    def blocks():
        labels = np.empty(100, y.dtype)
        for start in range(0, N, 100):
            labels[:] = y[start : start + 100]
            yield X[start : start + 100], labels

    assert_array_equal(RowSource(blocks).labels, y)


def test_masked_values_are_refused(rng):
    X = np.ma.masked_greater(rng.standard_normal((20, 3)), 1)
    with pytest.raises(ValueError, match="X has masked values"):
        RowSource(X)


@pytest.mark.parametrize("first", [np.asarray, sp.csr_array])
def test_a_source_that_becomes_sparse_or_dense_is_an_error(first, rng):
    X, y = dense(rng)
    later, kinds = (sp.csr_array if first is np.asarray else np.asarray), []

    def blocks():
        kinds.append(later if kinds else first)
        return iter([(first(X[:50]), y[:50]), (kinds[-1](X[50:]), y[50:])])

    with pytest.raises(ValueError, match="block 1 .*: it is (sparse|dense) no more"):
        ISRHT(4, random_state=0).fit(RowSource(blocks))


@pytest.mark.parametrize("kind", ["npz", "csr.npz", "svm", "svm.xz", "parquet"])
def test_lists_of_files(kind, rng, tmp_path):
    X, y = sparse(rng) if kind in ("svm", "svm.xz", "csr.npz") else dense(rng)
    paths = []
    for i, rows in enumerate(np.array_split(np.arange(N), 4)):
        paths.append(tmp_path / f"part-{i}.{kind}")
        write(paths[-1], kind, X[rows], y[rows])
    options = {"label": "label"} if kind == "parquet" else {}
    labels = y if kind == "csr.npz" else None
    memory = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]) if kind == "parquet" else X
    expected = ISRHTClassifier(16, selection="supervised", random_state=0, Cs=[0.1, 1]).fit(memory, y)
    for given in (paths, str(tmp_path / f"part-*.{kind}")):
        source = RowSource(open_rows(given, **options) if options else given)
        assert_same_model(
            ISRHTClassifier(16, selection="supervised", random_state=0, Cs=[0.1, 1]).fit(source, labels),
            expected,
            memory,
        )
    os.remove(paths[2])
    with pytest.raises((FileError, OSError), match=r"part-2"):
        ISRHT(4).fit(RowSource(open_rows(paths, **options)), labels)
    paths[2].write_bytes(b"garbage: no rows at all")
    with pytest.raises((FileError, ValueError), match=r"part-2|block 2"):
        ISRHT(4).fit(RowSource(open_rows(paths, **options)), labels)


def write(path, kind, X, y):
    if kind == "npz":
        np.savez(path, X=X, y=y)
    elif kind == "csr.npz":
        sp.save_npz(path, X)
    elif kind == "parquet":
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
        frame.assign(label=y).to_parquet(path)
    else:
        write_rows(path, X, y)


def test_progress_tells_pass_and_rows(rng):
    X, y = dense(rng)
    told = []
    source = RowSource(Blocks(X, y, 1000), progress=lambda *now: told.append(now))
    ISRHT(4, random_state=0).fit(source)
    assert told[0] == (1, 333, None)
    assert told[-1] == (2, N, N)
    assert [rows for number, rows, _ in told if number == 2] == [333, 1333, 2333, N]


@pytest.mark.parametrize(
    ("model", "passes"),
    [
        (ISRHT(4), 2),
        (ISRHTClassifier(4, selection="supervised", C=1.0, scale="maxabs"), 4),
        (ISRHTClassifier(4, selection="top"), 3),
        (ISRHTClassifier(4, selection="supervised"), 6),
        (ISRHTClassifier(24, selection="supervised"), 10),
        (ISRHTClassifier(4, selection="supervised", cv=ShuffleSplit(3, random_state=0)), 10),
    ],
    ids=["projection", "given C", "one projection", "five folds", "wide folds", "no partition"],
)
def test_a_fit_makes_few_passes(model, passes, rng):
    """One to survey, one to scale, to measure, to project; folds share theirs unless keeping them takes more room."""
    X, y = dense(rng)
    told = []
    model.set_params(random_state=0).fit(RowSource(Blocks(X, y), progress=lambda number, *_: told.append(number)))
    assert max(told) == passes


class Spoilt:
    """Blocks of 500 rows, of which the fourth has a value that is not finite in some of the passes."""

    def __init__(self, X, y, value, passes):
        self.X, self.y, self.value, self.passes, self.count = X, y, value, passes, 0

    def __call__(self):
        self.count += 1
        for start in range(0, N, 500):
            X = self.X[start : start + 500].copy()
            if start == 1500 and self.count in self.passes:
                X[X.nonzero()[0][0], X.nonzero()[1][0]] = self.value
            yield X, self.y[start : start + 500]


FINITE_NO_MORE = "the source has changed while it was in use: all values were finite when they were first read"


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    "model",
    [
        ISRHTClassifier(4, selection="supervised", random_state=0, Cs=[0.1, 1]),
        ISRHTClassifier(2, scale="maxabs", random_state=0),
        LinearSVM(),
        LinearSVMCV(Cs=[0.1, 1], cv=2),
    ],
)
def test_rows_that_are_not_finite_any_more_are_named(model, value, make, rng):
    X, y = make(rng)
    passes = Spoilt(X, y, value, ())
    clone_of(model).fit(RowSource(passes))
    for first in {2, 3, 6, passes.count} & set(range(passes.count + 1)):
        spoilt = RowSource(Spoilt(X, y, value, range(first, 10**6)))
        with pytest.raises(ValueError, match=rf"^block 3 \(from row 1500\): {FINITE_NO_MORE} \(Input contains "):
            clone_of(model).fit(spoilt)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "transform"])
def test_rows_to_predict_that_are_not_finite_any_more_are_named(method, rng):
    X, y = dense(rng)
    model = ISRHTClassifier(4, selection="supervised", random_state=0, Cs=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match=rf"^block 3 \(from row 1500\): {FINITE_NO_MORE} \(Input contains NaN"):
        getattr(model, method)(RowSource(Spoilt(X, y, np.nan, range(2, 9))))


def test_a_value_that_is_not_finite_in_one_pass_only_is_told(rng):
    X, y = dense(rng)
    with pytest.raises(ValueError, match="has changed while it was in use: a sum over its rows was not finite in one"):
        LinearSVM().fit(RowSource(Spoilt(X, y, np.nan, [5])))


@pytest.mark.parametrize("make", [dense, sparse])
def test_rows_that_are_held_are_finite(make, held, rng):
    X, y = make(rng)
    with pytest.raises(ValueError, match=rf"^block 3 \(from row 1500\): {FINITE_NO_MORE}"):
        RowSource(Spoilt(X, y, np.nan, range(2, 9))).held()
    with pytest.raises(ValueError, match="has changed while it was in use: a value was not finite in one pass"):
        RowSource(Spoilt(X, y, np.inf, [2])).held()


def test_values_that_were_always_too_large_are_no_change(rng):
    X, y = dense(rng)
    with pytest.raises(ValueError, match="^the sums of squares of the features overflow"):
        LinearSVM().fit(RowSource(Blocks(X * 1e200, y)))


@pytest.mark.parametrize(("size", "now"), [(N - 1, "2999"), (N + 5, "more")])
def test_a_source_that_changes_between_passes_is_an_error(size, now, rng):
    X, y = dense(rng)
    passes = []

    def blocks():
        passes.append(1)
        rows = np.arange(N) if len(passes) == 1 else np.arange(size) % N
        return iter([(X[rows], y[rows])])

    with pytest.raises(ValueError, match=f"has changed while it was in use: it had 3000 rows, and now has {now}"):
        ISRHT(4, random_state=0).fit(RowSource(blocks))


def test_a_source_whose_rows_become_narrower_is_an_error(rng):
    X, y = dense(rng)
    passes = []

    def blocks():
        passes.append(1)
        width = X.shape[1] - (len(passes) > 1)
        return iter([(X[:9], y[:9]), (X[9:, :width], y[9:])])

    message = f"block 1 .*: it has {X.shape[1] - 1} features, but had {X.shape[1]} when it was first read"
    with pytest.raises(ValueError, match=message):
        ISRHT(4, random_state=0).fit(RowSource(blocks))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_iterator_may_use_one_buffer_again_and_again(n_jobs, convert, rng):
    X, y = dense(rng)

    def blocks():
        buffer = convert(np.ones((100, 90)))
        for start in range(0, N, 100):
            values = X[start : start + 100]
            if sp.issparse(buffer):
                buffer.data[:] = values.ravel()
            else:
                buffer[:] = values
            yield buffer, y[start : start + 100]

    assert_same_model(LinearSVM(n_jobs=n_jobs).fit(RowSource(blocks)), LinearSVM().fit(convert(X), y), X)


def test_one_sparse_matrix_may_have_duplicates_when_it_is_filled_again(rng):
    X, y = sparse(rng)
    doubled = [sp.csr_array(X[start : start + 100]) for start in range(0, N, 100)]

    def blocks():
        block = doubled[0].copy()
        for number, part in enumerate(doubled):
            times = 1 + number % 2  # an entry of half the size, twice, in every other block
            block.data, block.indices = np.repeat(part.data / times, times), np.repeat(part.indices, times)
            block.indptr = part.indptr * times
            yield block, y[100 * number : 100 * number + 100]

    assert_same_model(LinearSVM().fit(RowSource(blocks)), LinearSVM().fit(X, y), X)
    assert_array_equal(
        *(BoostedISRHT(4, random_state=0).fit(*given).transform(X) for given in [(RowSource(blocks),), (X, y)])
    )


def test_empty_blocks_and_one_row_blocks_are_no_trouble(rng):
    X, y = dense(rng)
    X, y = X[:60], y[:60]
    blocks = [(X[:0], y[:0])] + [(X[i : i + 1], y[i : i + 1]) for i in range(60)] + [(X[:0], y[:0])]
    assert_same_model(LinearSVM().fit(RowSource(blocks)), LinearSVM().fit(X, y), X)


def test_a_source_can_be_pickled(rng):
    X, y = dense(rng)
    source = RowSource(Blocks(X, y))
    expected = LinearSVM().fit(source)
    again = pickle.loads(pickle.dumps(source))
    assert_array_equal(LinearSVM().fit(again).coef_, expected.coef_)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (np.array(3.0), r"block 1 .*a block must have two dimensions, got shape \(\)"),
        (np.ones(4), r"block 1 .*a block must have two dimensions, got shape \(4,\)"),
        (np.ones((2, 2, 2)), r"block 1 .*a block must have two dimensions, got shape \(2, 2, 2\)"),
        (None, "block 1 .*a block must be rows, or a pair of rows and labels, got NoneType"),
        ({"X": np.ones((3, 4))}, "block 1 .*a block must be rows, or a pair of rows and labels, got dict"),
    ],
)
def test_blocks_are_rows_of_two_dimensions(block, message):
    with pytest.raises(ValueError, match=message):
        RowSource([np.ones((3, 4)), block]).shape  # noqa: B018


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dia", "dok"])
def test_blocks_of_every_sparse_format_from_a_function(rng, format):
    X = sp.random_array((60, 8), density=0.4, format="csr", random_state=rng)
    y = np.arange(60) % 2
    parts = [(X[rows].asformat(format), y[rows]) for rows in (slice(30), slice(30, None))]
    model = LinearSVM().fit(RowSource(lambda: iter(parts)))
    assert_array_equal(model.coef_, LinearSVM().fit(X, y).coef_)


class Counted:
    """Blocks that count how often they are read."""

    def __init__(self, blocks):
        self.blocks, self.reads = blocks, 0

    def __call__(self):
        self.reads += 1
        return iter(self.blocks)


def packed_text(folder, X, y):
    path = folder / "rows.svm.xz"
    write_rows(path, X, y)
    return path


def test_packed_text_is_parsed_once(tmp_path, rng, monkeypatch):
    X = sp.random_array((300, 40), density=0.2, format="csr", random_state=rng)
    y = np.array(["no", "yes"])[(X @ rng.standard_normal(40) > 0).astype(int)]
    path, opened = packed_text(tmp_path, X, y), []
    open_bytes = _libsvm.open_bytes
    monkeypatch.setattr(_libsvm, "open_bytes", lambda *file: opened.append(file) or open_bytes(*file))
    model = ISRHTClassifier(2, selection="boosted", random_state=0)
    got = clone(model).fit(RowSource(path))
    assert len(opened) == 1
    again = clone(model).fit(RowSource(path, cache=None))
    assert len(opened) > 10
    assert_array_equal(got.coef_, again.coef_)
    expected = clone(model).fit(X, y)
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())


def test_blocks_of_the_users_are_kept_if_a_number_of_bytes_is_given(rng):
    X = rng.standard_normal((200, 10))
    blocks = [(X[:90], X[:90, 0] > 0), (X[90:], X[90:, 0] > 0)]
    model = ISRHTClassifier(4, C=1.0, random_state=0)
    models, reads = [], []
    for cache in ("auto", 10**6, None):
        counted = Counted(blocks)
        models.append(clone(model).fit(RowSource(counted, cache=cache)))
        reads.append(counted.reads)
    assert reads[1] == 1
    assert reads[0] == reads[2] > 1
    assert_array_equal(models[0].coef_, models[1].coef_)
    counted = Counted(blocks)
    with pytest.warns(UserWarning, match="rows are not kept for the next pass, but read again"):
        assert_array_equal(clone(model).fit(RowSource(counted, cache=1000)).coef_, models[0].coef_)
    assert counted.reads == reads[0]


@pytest.mark.parametrize("cache", ["always", -1, 0.5, True, []])
def test_a_cache_is_auto_or_a_number_of_bytes_or_none(cache):
    with pytest.raises(ValueError, match="cache must be 'auto', a number of bytes or None, got"):
        RowSource([np.ones((2, 2))], cache=cache)


def test_nothing_is_kept_of_rows_that_are_wrong(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n2 1:nan\n")
    source = RowSource(path)
    with pytest.raises(FileError, match="line 2"):
        source.shape  # noqa: B018 -- the first pass is made here
    assert source._kept is None
    path.write_text("1 1:1\n2 1:3\n")
    assert RowSource(path).shape == (2, 1)


def test_malformed_sparse_blocks_of_a_function_are_named(rng):
    def blocks():
        X = sp.csr_matrix(rng.standard_normal((12, 2)))
        X.indices = list(X.indices)
        yield X

    with pytest.raises(ValueError, match="block 0 .from row 0.: .*indices"):
        RowSource(blocks).shape  # noqa: B018 -- the first pass is made here
