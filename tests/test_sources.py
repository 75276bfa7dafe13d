import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import ShuffleSplit

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, RowSource
from isrht.files import FileError, open_rows, write_rows
from isrht.sources import StoredRows, stored

N = 3000


def dense(rng):
    X = rng.standard_normal((N, 90)) + 0.3
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(N) > 0).astype(int)


def three_classes(rng):
    X, _ = dense(rng)
    return X, np.array(["a", "b", "c"])[(X @ rng.standard_normal((90, 3))).argmax(axis=1)]


def single(rng):
    X, y = dense(rng)
    return X.astype(np.float32), y


def sparse(rng):
    X = sp.random_array((N, 300), density=0.05, format="csr", random_state=rng)
    return X, (X @ rng.standard_normal(300) > 0).astype(int)


SETS = (dense, three_classes, single, sparse)
MODELS = {
    "supervised": ISRHTClassifier(16, random_state=0, Cs=[0.1, 1, 10]),
    "scaled, top": ISRHTClassifier(
        16, selection="top", scale="maxabs", class_weight="balanced", random_state=0, Cs=[0.1, 1, 10], cv=3
    ),
    "centred, roc_auc": ISRHTClassifier(
        16, center=True, scoring="f1_macro", cv=ShuffleSplit(2, random_state=0), random_state=0, Cs=[0.1, 1]
    ),
    "sketched": ISRHTClassifier(16, sketch_size=64, n_score_samples=500, C=1.0, random_state=0),
    "boosted": ISRHTClassifier(2, selection="boosted", scale="maxabs", random_state=0),
    "LinearSVM": LinearSVM(),
    "LinearSVMCV": LinearSVMCV(Cs=[0.1, 1], cv=3),
    "LinearSVMCV, f1": LinearSVMCV(Cs=[0.1, 1], cv=3, scoring="f1_macro", refit=False),
}


class Blocks:
    """Rows in blocks of a few, then of more, as some stranger's files might have them."""

    def __init__(self, X, y=None, size=257):
        self.X, self.y, self.size = X, y, size

    def __iter__(self):
        start, size = 0, max(1, self.size // 3)
        while start < self.X.shape[0]:
            X = self.X[start : start + size]
            yield X if self.y is None else (X, self.y[start : start + size])
            start, size = start + size, self.size


def assert_same_model(got, expected, X):
    if hasattr(expected, "C_"):
        assert got.C_ == expected.C_
    if hasattr(expected, "scores_"):
        assert_allclose(got.scores_, expected.scores_, rtol=0, atol=1e-12)
    if hasattr(expected, "projection_"):
        assert_array_equal(got.projection_.selected_columns_, expected.projection_.selected_columns_)
        single = getattr(X, "dtype", None) == np.float32
        assert_allclose(got.transform(X), expected.transform(X), atol=1e-5 if single else 1e-9)
    scale = np.abs(expected.coef_).max()
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * scale)
    assert_allclose(got.intercept_, expected.intercept_, rtol=0, atol=1e-8 * max(scale, 1))
    assert_array_equal(got.predict(X), expected.predict(X))


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_a_memory_map_is_read_by_blocks(dtype, rng, tmp_path, monkeypatch):
    X, y = dense(rng)
    X = (10 * X).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = ISRHTClassifier(16, scale="minmax", random_state=0).fit(X, y)
    rows = []
    monkeypatch.setattr(
        RowSource, "_converted", lambda self, X, f=RowSource._converted: rows.append(len(X)) or f(self, X)
    )
    monkeypatch.setattr("isrht.blocks.BLOCK_ELEMENTS", 2**14)
    monkeypatch.setattr("isrht.blocks.READ_ELEMENTS", 2**15)
    got = ISRHTClassifier(16, scale="minmax", random_state=0).fit(mapped, y)
    assert_same_model(got, expected, X)
    assert_array_equal(got.predict(mapped), expected.predict(X))
    assert 0 < max(rows) <= 2**15 // 90


def test_data_frames_keep_their_names(rng):
    X, y = dense(rng)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(90)])
    expected = ISRHTClassifier(16, random_state=0).fit(frame, y)
    source = RowSource([(frame[:1000], y[:1000]), (frame[1000:], y[1000:])])
    got = ISRHTClassifier(16, random_state=0).fit(source)
    assert_array_equal(got.feature_names_in_, frame.columns)
    assert_same_model(got, expected, frame)
    assert_array_equal(got.predict(source), expected.predict(frame))
    with pytest.raises(ValueError, match="block 1 .from row 1000.: its columns have other names"):
        ISRHT(4).fit(RowSource([(frame[:1000], y[:1000]), (frame[frame.columns[::-1]][1000:], y[1000:])]))


def test_labels_may_come_with_the_rows_or_apart(rng):
    X, y = dense(rng)
    with_labels, without = RowSource(Blocks(X, y)), RowSource(Blocks(X))
    assert_array_equal(with_labels.labels, y)
    assert without.labels is None
    apart, together = LinearSVM().fit(without, y), LinearSVM().fit(with_labels)
    assert_array_equal(apart.coef_, together.coef_)
    with pytest.raises(ValueError, match="LinearSVM requires y to be passed, but the target y is None and the source"):
        LinearSVM().fit(without)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVM().fit(without, y[:-1])
    with pytest.raises(ValueError, match="needs at least two classes"):
        LinearSVM().fit(without, np.zeros(N))


@pytest.mark.parametrize("kind", ["npz", "csr.npz", "svm", "svm.xz", "parquet"])
def test_lists_of_files(kind, rng, tmp_path):
    X, y = sparse(rng) if kind in ("svm", "svm.xz", "csr.npz") else dense(rng)
    paths = []
    for i, rows in enumerate(np.array_split(np.arange(N), 4)):
        paths.append(tmp_path / f"part-{i}.{kind}")
        write(paths[-1], kind, X[rows], y[rows])
    options = {"label": "label"} if kind == "parquet" else {}
    labels = y if kind == "csr.npz" else None
    expected = ISRHTClassifier(16, random_state=0, Cs=[0.1, 1]).fit(X, y)
    for given in (paths, str(tmp_path / f"part-*.{kind}")):
        source = RowSource(open_rows(given, **options) if options else given)
        assert_same_model(ISRHTClassifier(16, random_state=0, Cs=[0.1, 1]).fit(source, labels), expected, X)
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
        (ISRHTClassifier(4, C=1.0, scale="maxabs"), 4),
        (ISRHTClassifier(4, selection="top"), 3),
        (ISRHTClassifier(4), 5),
        (ISRHTClassifier(24), 9),
        (ISRHTClassifier(4, cv=ShuffleSplit(3, random_state=0)), 9),
    ],
    ids=["projection", "given C", "one projection", "five folds", "wide folds", "no partition"],
)
def test_a_fit_makes_few_passes(model, passes, rng):
    """One to survey, one to scale, to measure, to project; folds share theirs unless keeping them takes more room."""
    X, y = dense(rng)
    told = []
    model.set_params(random_state=0).fit(RowSource(Blocks(X, y), progress=lambda number, *_: told.append(number)))
    assert max(told) == passes


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
        (lambda X, y: 5, TypeError, "needs an iterable of blocks of rows, got int"),
    ],
)
def test_bad_blocks_are_named(make, error, message, rng):
    X, y = dense(rng)
    with pytest.raises(error, match=message):
        ISRHTClassifier(16, random_state=0).fit(RowSource(make(X, y)))


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


def test_empty_blocks_and_one_row_blocks_are_no_trouble(rng):
    X, y = dense(rng)
    X, y = X[:60], y[:60]
    blocks = [(X[:0], y[:0])] + [(X[i : i + 1], y[i : i + 1]) for i in range(60)] + [(X[:0], y[:0])]
    assert_same_model(LinearSVM().fit(RowSource(blocks)), LinearSVM().fit(X, y), X)


def test_stored_rows_come_back_as_they_were(rng):
    X = rng.standard_normal((1000, 7)).astype(np.float32)
    with stored(RowSource(Blocks(X)), [(np.negative, 7), (np.array, 7)], n_jobs=2) as (_, rows):
        assert isinstance(rows, StoredRows)
        assert rows.shape == X.shape
        for block_rows in (1, 99, 1000, 5000):
            assert_array_equal(np.concatenate(list(rows.read(block_rows))), X)
        some = rows.take(np.array([0, 5, 5, 999]))
        assert_array_equal(np.concatenate(list(some.read(3))), X[[0, 5, 5, 999]])
    with pytest.raises(ValueError, match="closed file"):
        next(rows.read(10))


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


def test_a_source_can_be_pickled(rng):
    X, y = dense(rng)
    source = RowSource(Blocks(X, y))
    expected = LinearSVM().fit(source)
    again = pickle.loads(pickle.dumps(source))
    assert_array_equal(LinearSVM().fit(again).coef_, expected.coef_)


class Stop(Exception):
    pass


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
def test_no_temporary_file_is_left_after_an_error(error, rng, tmp_path, monkeypatch):
    X, y = dense(rng)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened = []
    monkeypatch.setattr(StoredRows, "append", lambda self, X, f=StoredRows.append: opened.append(self) or f(self, X))
    monkeypatch.setattr("isrht.classifier.LinearSVM.fit", lambda *_: (_ for _ in ()).throw(error()))
    with pytest.raises(error):
        ISRHTClassifier(16, C=1.0, random_state=0).fit(RowSource(Blocks(X, y)))
    assert opened
    assert all(rows._file.closed for rows in opened)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_said(rng, monkeypatch):
    X, y = dense(rng)

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(OSError, match="could not be kept in .* .No space left on device.; .* TMPDIR"):
        ISRHTClassifier(16, random_state=0).fit(RowSource(Blocks(X, y)))


N_FILES, FILE_ROWS, WIDE = 192, 125, 4096

LIMITED = """
import pathlib, resource, sys
import numpy as np
from isrht import ISRHTClassifier, RowSource

class Files:
    def __init__(self, folder):
        self.paths = sorted(pathlib.Path(folder).glob("X*.npy"))

    def __iter__(self):
        for path in self.paths:
            X = np.load(path)
            yield X, X[:, :500].sum(axis=1) > 0

folder, kind, n_jobs, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
model = {
    "supervised": ISRHTClassifier(32, cv=2, random_state=0, n_jobs=n_jobs, Cs=[0.01, 0.1]),
    "given C": ISRHTClassifier(32, C=0.1, random_state=0, n_jobs=n_jobs),
    "top": ISRHTClassifier(32, selection="top", scale="maxabs", random_state=0, n_jobs=n_jobs, Cs=[0.01, 0.1, 1]),
    "boosted": ISRHTClassifier(1, selection="boosted", random_state=0, n_jobs=n_jobs),
}[kind]
warm = np.random.default_rng(0).standard_normal((300, 64))
model.fit(warm, warm[:, 0] > 0)  # modules, threads and buffers are there before the limit is set
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + allowed, used + allowed))
source, labels = RowSource(Files(folder)), None
%s
model.fit(source, labels)
print(model.score(source, source.labels if labels is None else labels))
"""
MAPPED = """
labels = source.labels
source = np.memmap(folder + "/all", dtype=float, mode="r", shape=source.shape)
"""
LOADED = """
source, labels = (np.concatenate(parts) for parts in zip(*Files(folder)))
"""
limits = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc and RLIMIT_DATA")


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory):
    """Files of 4 MB each, and one of all of them; the classes are easy to tell apart."""
    folder = tmp_path_factory.mktemp("gigabyte")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((FILE_ROWS, WIDE))
    with open(folder / "all", "wb") as whole:
        for i in range(N_FILES):
            part = np.roll(X, 37 * i, axis=0) + 0.01 * i
            part[:, :500] += np.where(rng.random((FILE_ROWS, 1)) < 0.5, 1, -1)
            np.save(folder / f"X{i:03}.npy", part)
            part.tofile(whole)
    yield folder
    shutil.rmtree(folder)


def train_under_limit(folder, tmp_path, kind, n_jobs=1, source=""):
    """Train with a tenth of the size of the data for everything that the process allocates from then on."""
    allowed = N_FILES * FILE_ROWS * WIDE * 8 // 10
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    if n_jobs > 1:  # glibc gives every thread a heap that keeps what it freed; this returns large blocks at once
        environment |= {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
    run = [sys.executable, "-c", LIMITED % source, str(folder), kind, str(n_jobs), str(allowed)]
    return subprocess.run(run, capture_output=True, text=True, env=environment, timeout=300, check=False)


@limits
@pytest.mark.parametrize(
    ("kind", "n_jobs", "source"),
    [("given C", 2, ""), ("boosted", 1, ""), ("supervised", 1, MAPPED)],
)
def test_train_on_ten_times_the_memory_there_is(kind, n_jobs, source, gigabyte, tmp_path):
    run = train_under_limit(gigabyte, tmp_path, kind, n_jobs, source)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) > 0.85
    assert os.listdir(tmp_path) == []


@limits
def test_the_limit_is_one(gigabyte, tmp_path):
    run = train_under_limit(gigabyte, tmp_path, "top", source=LOADED)
    assert run.returncode != 0
    assert "MemoryError" in run.stderr


# --- blocks that are not what they should be ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (np.array(3.0), r"block 1 .*a block must have two dimensions, got shape \(\)"),
        (np.ones(4), r"block 1 .*a block must have two dimensions, got shape \(4,\)"),
        (np.ones((2, 2, 2)), r"block 1 .*a block must have two dimensions, got shape \(2, 2, 2\)"),
    ],
)
def test_blocks_have_two_dimensions(block, message):
    with pytest.raises(ValueError, match=message):
        RowSource([np.ones((3, 4)), block]).shape  # noqa: B018


def test_blocks_without_names_after_a_block_with_names(rng):
    frame = pd.DataFrame(rng.standard_normal((5, 2)), columns=["a", "b"])
    with pytest.raises(ValueError, match="block 1 .*its columns have no names, unlike those of the first block"):
        RowSource([frame, frame.to_numpy()]).shape  # noqa: B018


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dia", "dok"])
def test_blocks_of_every_sparse_format_from_a_function(rng, format):
    X = sp.random_array((60, 8), density=0.4, format="csr", random_state=rng)
    y = np.arange(60) % 2
    parts = [(X[rows].asformat(format), y[rows]) for rows in (slice(30), slice(30, None))]
    model = LinearSVM().fit(RowSource(lambda: iter(parts)))
    assert_array_equal(model.coef_, LinearSVM().fit(X, y).coef_)
