import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files.opening import open_rows, read_rows
from isrht.files.writing import write_rows

TABLES = {"x.csv": {"label": "label"}, "x.tsv": {"label": 0}, "x.csv.gz": {"label": "label"}}
FORMATS = {"x": {}, "x.svm.bz2": {}, "x.svm.zst": {}, "x.npy": {"label": 0}, "x.parquet": {"label": "label"}, **TABLES}
NEEDS = {".csv": "pandas", ".tsv": "pandas", ".gz": "pandas", ".parquet": "pyarrow", ".zst": "backports.zstd"}


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix in NEEDS and not (path.suffix == ".zst" and has_own_zstd()):
        pytest.importorskip(NEEDS[path.suffix])
    return path


def has_own_zstd():
    return sys.version_info >= (3, 14)


def data(rng):
    X = np.where(rng.random((40, 6)) < 0.5, 0, rng.standard_normal((40, 6)) * 10.0 ** rng.integers(-300, 300, (40, 6)))
    X[7], X[8, -1] = 0, 5e-324
    X[:, -1] += X[:, -1] == 0  # a sparse format can tell the width only if the last feature has a value
    return X


def read(path, labelled):
    X, y, _ = read_rows(path, **(FORMATS[path.name] if labelled else {}))
    return X.toarray() if sp.issparse(X) else X, y


@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "blocks"])
def test_what_is_written_is_read(path, kind, rng):
    X, y = data(rng), rng.integers(-1, 2, 40)
    blocks = ((X[rows], y[rows]) for rows in (slice(0, 15), slice(15, 15), slice(15, 40)))
    write_rows(path, *{"dense": (X, y), "csr": (sp.csr_matrix(X), y), "csc": (sp.csc_array(X), y),
                       "blocks": (blocks,)}[kind])  # fmt: skip
    found, labels = read(path, True)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(labels, y)


def test_rows_without_labels(path, rng):
    X = data(rng)
    X[3] = 0
    write_rows(path, X)
    found, labels = read(path, False)
    np.testing.assert_array_equal(found, X)
    assert labels is None


def test_labels_that_are_strings(path, rng):
    X, y = data(rng), np.array(["spam", "1", "naïve"], dtype=object)[rng.integers(0, 3, 40)]
    if path.suffix == ".npy":
        with pytest.raises(ValueError, match="x.npy: an NPY array cannot have labels that are strings"):
            write_rows(path, X, y)
        assert list(path.parent.iterdir()) == []
        return
    write_rows(path, X, y)
    assert read(path, True)[1].tolist() == y.tolist()


VALUES = [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
LARGE = {"int64": -(2**63), "uint64": 2**64 - 1, "int32": 2**31 - 1, "uint8": 255, "int8": -128, "float16": 0.1,
         "float32": 0.1, "float64": 5e-324, ">f8": 0.1, ">i4": 7}  # fmt: skip


@pytest.fixture(params=["x", "x.npy", "x.parquet", "x.csv", "x.tsv"])
def plain_path(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix:
        pytest.importorskip(NEEDS.get(path.suffix, "numpy"))
    return path


@pytest.mark.parametrize("dtype", ["bool", "uint16", "int16", "uint32", *LARGE])
def test_every_type_of_numbers(plain_path, dtype):
    X, y = np.array(VALUES, dtype=dtype), np.array([2, 1, 2])
    X[0, 1] = LARGE.get(dtype, 1)
    kinds = [X, np.asfortranarray(X), np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], read_only(X)]
    if dtype not in ("float16", ">f8", ">i4"):  # SciPy does not know these
        kinds += [sp.csr_matrix(X), sp.coo_array(X)]
    for given in kinds:
        write_rows(plain_path, given, y)
        found, labels = read(plain_path, True)
        np.testing.assert_array_equal(found, X.astype(np.float64))
        np.testing.assert_array_equal(labels, y)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "csr array": sp.csr_array,
    "csc matrix": sp.csc_matrix,
    "csc array": sp.csc_array,
    "coo matrix": sp.coo_matrix,
    "bsr": sp.bsr_matrix,
    "lil": sp.lil_array,
    "dok": sp.dok_matrix,
    "dia": sp.dia_array,
    "unsorted csr with duplicates": lambda X: doubled(sp.csr_matrix(X)),
    "objects": lambda X: X.astype(object),
    "list of blocks": lambda X: [(X[:1], None), (X[1:], None)],
    "pandas": lambda X: pandas().DataFrame(X),
    "pandas of different types": lambda X: pandas().DataFrame(X).astype({0: bool, 1: "Int64", 2: np.float32}),
    "pandas sparse": lambda X: pandas().DataFrame(X).astype(pandas().SparseDtype(float, 0.0)),
    "pandas sparse bool": lambda X: pandas().DataFrame(X.astype(bool)).astype(pandas().SparseDtype(bool, False)),
    "pandas sparse in ones": lambda X: pandas().DataFrame(X).astype(pandas().SparseDtype(float, 1.0)),
    "polars": lambda X: polars().DataFrame({f"c{k}": column for k, column in enumerate(X.T)}),
    "polars of different types": lambda X: polars().DataFrame(
        {"a": X[:, 0].astype(bool), "b": X[:, 1], "c": X[:, 2].astype(np.float32)}
    ),
}


def pandas():
    return pytest.importorskip("pandas")


def polars():
    return pytest.importorskip("polars")


def doubled(X):
    order = np.concatenate([np.repeat(np.arange(start, stop)[::-1], 2) for start, stop in pairwise(X.indptr)])
    return sp.csr_matrix((X.data[order] / 2, X.indices[order], 2 * X.indptr), X.shape)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(plain_path, container):
    X = np.array(VALUES, dtype=float)
    write_rows(plain_path, CONTAINERS[container](X))
    np.testing.assert_array_equal(read(plain_path, False)[0], X)


LABELS = {
    "bool": np.array([True, False, True]),
    "int": [3, -1, 3],
    "int8": np.array([3, -1, 3], np.int8),
    "uint64": np.array([2**63, 2**64 - 2**11, 2**63], np.uint64),
    "float": [0.1, -1.5, 1e300],
    "float16": np.array([0.1, 1, 2], np.float16),
    "objects": np.array([True, 2, 0.5], object),
    "strings": np.array(["ham", "spam", "ham"]),
    "object strings": np.array(["ham", "naïve", "ham"], object),
    "new strings": np.array(["ham", "naïve", "ham"], np.dtypes.StringDType()),
    "series": lambda: pandas().Series([1, 2, 1], index=[5, 6, 7]),
    "nullable series": lambda: pandas().Series([1, 2, 1], dtype="Int64"),
    "string series": lambda: pandas().Series(["ham", "spam", "ham"]),
    "categories": lambda: pandas().Series(["ham", "spam", "ham"]).astype("category"),
    "categorical": lambda: pandas().Categorical(["ham", "spam", "ham"]),
    "categories of numbers": lambda: pandas().Series([4, 2, 4]).astype("category"),
    "polars": lambda: polars().Series(["ham", "spam", "ham"]),
    "polars categories": lambda: polars().Series(["ham", "spam", "ham"]).cast(polars().Categorical),
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_kind_of_labels(plain_path, kind):
    y = LABELS[kind]() if callable(LABELS[kind]) else LABELS[kind]
    if plain_path.suffix == ".npy" and isinstance(np.asarray(y).tolist()[0], str):
        pytest.skip("an NPY array has no strings")
    for dtype in (np.float64, np.float32, bool):
        X = np.array(VALUES, dtype=dtype)
        write_rows(plain_path, X, y)
        found, labels = read(plain_path, True)
        np.testing.assert_array_equal(found, X)
        assert labels.tolist() == np.asarray(y).tolist()


def malformed(kind, part, value):
    make = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "csr array": sp.csr_array}[kind]
    X = make(np.eye(3))
    getattr(X, part)[1] = value
    return X


@pytest.mark.parametrize("kind", ["csr", "csr array", "csc"])
@pytest.mark.parametrize(
    ("part", "value"), [("indices", 3), ("indices", -1), ("indices", 2**31 - 1), ("indptr", 99), ("indptr", -5)]
)
def test_a_malformed_sparse_matrix_is_refused_with_its_row(plain_path, kind, part, value):
    X = malformed(kind, part, value)
    for given in (X, iter([(np.eye(3), None), (X, None)])):
        with pytest.raises(ValueError, match=rf"{plain_path.name}: X is malformed: .*(row|column) \d") as raised:
            write_rows(plain_path, given)
        assert str(value) in str(raised.value)
        assert list(plain_path.parent.iterdir()) == []


def test_blocks_are_alike(plain_path):
    path = plain_path
    X, y = np.ones((2, 3)), np.ones(2)
    for blocks, problem in [
        ([(X, y), (X[:, :2], y)], "block 2 has 2 columns with labels, but the first has 3 columns with labels"),
        ([(X, y), (X, None)], "block 2 has 3 columns without labels, but the first has 3 columns with labels"),
        ([X], "blocks must be pairs"),
    ]:
        with pytest.raises(ValueError, match=f"{path.name}: {problem}"):
            write_rows(path, iter(blocks))
    with pytest.raises(ValueError, match="blocks bring their labels with them"):
        write_rows(path, iter([(X, y)]), y)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x.npy", "a block is of float64, but the first is of float32"),
        ("x.parquet", "a block has columns of other types than the first"),
    ],
)
def test_a_later_block_does_not_lose_digits(tmp_path, name, problem):
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=problem):
        write_rows(tmp_path / name, iter([(np.ones((1, 2), np.float32), None), (np.full((1, 2), 0.1), None)]))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.parquet"])
@pytest.mark.parametrize("label", ["", " a", "a\t", "nan", "Infinity", "x" * 257, "a\nb", "\x1b[31m", "\ud800"])
def test_tables_refuse_labels_that_are_read_otherwise(tmp_path, name, label):
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=f"{name}: .* cannot have the label"):
        write_rows(tmp_path / name, [[1.0]], [label])


def test_awkward_labels_that_tables_can_have(tmp_path):
    pytest.importorskip("pyarrow")
    y = ['a"b', "a,b", '"', "'", "a\u00e9 b", "#x", "NA", "None"]
    for name in ("x.csv", "x.tsv", "x.parquet"):
        write_rows(tmp_path / name, np.ones((len(y), 1)), y)
        assert read_rows(tmp_path / name, label="label")[1].tolist() == y


def test_parquet_without_a_block_has_no_columns_to_tell(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="x.parquet: there are no rows to write"):
        write_rows(tmp_path / "x.parquet", iter([]))
    assert list(tmp_path.iterdir()) == []


def test_one_format_to_another_block_by_block(tmp_path, rng):
    X, y = data(rng), rng.integers(0, 2, 40)
    write_rows(tmp_path / "x.svm", X, y)
    write_rows(tmp_path / "x.npy", open_rows(tmp_path / "x.svm").in_blocks(7))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.column_stack([y, X]))


def test_float32_stays_float32_in_npy(tmp_path):
    write_rows(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    assert np.load(tmp_path / "x.npy").dtype == np.float32


def test_the_text(tmp_path):
    X = sp.csr_matrix(([0.5, 2.0, 1e-7], [3, 0, 1], [0, 2, 2, 3]), (3, 4))
    before = X.indices.copy()
    write_rows(tmp_path / "x", X, [1.0, -1.0, 2.5])
    assert (tmp_path / "x").read_text() == "1 1:2 4:0.5\n-1\n2.5 2:1e-07\n"
    np.testing.assert_array_equal(X.indices, before)
    write_rows(tmp_path / "x", X)
    assert (tmp_path / "x").read_text() == "1:2 4:0.5\n1:0\n2:1e-07\n", "a blank line would be no row"


@pytest.mark.parametrize(
    ("X", "y", "problem"),
    [
        ([[np.nan]], None, "X holds values that are not finite"),
        (sp.csr_matrix([[np.inf]]), None, "X holds values that are not finite"),
        ([1.0], None, r"X must be two-dimensional and of numbers, got shape \(1,\)"),
        ([["a"]], None, "X must be two-dimensional and of numbers"),
        ([[1.0]], [1, 2], r"y must have a label for each of 1 rows, got shape \(2,\)"),
        ([[1.0]], [np.nan], "y holds labels that are not finite"),
        ([[1.0]], [None], "labels must be numbers or strings, got object"),
        ([[1.0]], [1j], "labels must be numbers or strings, got complex128"),
        ([[1.0]], [b"a"], "labels must be numbers or strings, got"),
        ([[1.0], [2.0]], np.array([1, "a"], object), "labels must be numbers or strings, got object"),
        ([[1.0]], [2**53 + 1], "the label 9007199254740993 would be read as 9007199254740992"),
        ([[1.0]], np.array([2**64 - 1], np.uint64), "the label 18446744073709551615 would be read as"),
        ([[1.0]], np.array(["a\0"], object), "no format has labels with a NUL"),
        ([[1.0]], np.ones(1, np.longdouble), "y is of .*, and no format holds more than doubles"),
        (np.ones((1, 1), np.longdouble), None, "X is of .*, and no format holds more than doubles"),
        (sp.csr_matrix(np.ones((1, 1), np.longdouble)), None, "X is of .*, and no format holds more than doubles"),
        ([[1j]], None, "X must be two-dimensional and of numbers, got shape .* of complex128"),
        (sp.csr_matrix([[1j]]), None, "X must be two-dimensional and of numbers"),
        (np.array([[1, "a"]], object), None, "X must be two-dimensional and of numbers"),
        (np.array([[1, None]], object), None, "X must be two-dimensional and of numbers"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), None, "X holds masked values"),
        ([[1.0], [1.0, 2.0]], None, "X is no table of numbers"),
        (np.ones((2, 0)), None, "X has no columns"),
        (sp.coo_array(([1.0], ([0], [2**31])), (1, 2**31 + 1)), None, "cannot have the index 2147483649"),
        ([[1.0]], ["a b"], "LIBSVM text cannot have the label 'a b'"),
        ([[1.0]], ["a:b"], "cannot have the label 'a:b'"),
        ([[1.0]], ["a,b"], "cannot have the label 'a,b'"),
        ([[1.0]], ["#"], "cannot have the label '#'"),
        ([[1.0]], [""], "cannot have the label ''"),
        ([[1.0]], ["\ud800"], "cannot have the label"),
        ([[1.0]], ["\ufeffa"], "cannot have the label"),
        ([[1.0]], ["nan"], "cannot have the label 'nan'"),
        ([[1.0]], ["ä" * 129], "cannot have the label 'ä"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, X, y, problem):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(ValueError, match=f"{path}: .*{problem}"):
        write_rows(path, X, y)
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert path.read_text() == "old"


def test_an_error_between_blocks_leaves_the_old_file(path):
    path.write_text("old")

    def blocks():
        yield np.ones((2, 2)), np.ones(2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(path, blocks())
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == [(path.name, "old")]


@pytest.mark.parametrize("name", ["x.npz", "x.npy.gz", "x.parquet.xz"])
def test_what_is_not_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"read but not written|only text may be packed"):
        write_rows(tmp_path / name, [[1.0]])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_written_to(path, rng):
    X, y = data(rng), rng.integers(0, 2, 40)
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        content = pool.submit(path.read_bytes)
        if path.suffix == ".npy":
            with pytest.raises(ValueError, match="NPY cannot be written to a pipe"):
                write_rows(path, X, y)
            return
        write_rows(path, X, y)
    path.unlink()
    path.write_bytes(content.result(10))
    found, labels = read(path, True)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(labels, y)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_said_with_the_file(path):
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write_rows(path, np.ones((20_000, 3)), np.ones(20_000))
