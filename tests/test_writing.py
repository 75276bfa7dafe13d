import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files import open_rows, read_rows, write_rows

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
    import sys

    return sys.version_info >= (3, 14)


def data(rng):
    X = np.where(rng.random((40, 6)) < 0.5, 0, rng.standard_normal((40, 6)) * 10.0 ** rng.integers(-300, 300, (40, 6)))
    X[7], X[8, -1] = 0, 5e-324
    X[:, -1] += X[:, -1] == 0  # the last column tells the width to a sparse format
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


def test_one_format_to_another_block_by_block(tmp_path, rng):
    X, y = data(rng), rng.integers(0, 2, 40)
    write_rows(tmp_path / "x.svm", X, y)
    write_rows(tmp_path / "x.npy", open_rows(tmp_path / "x.svm", block_rows=7))
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
