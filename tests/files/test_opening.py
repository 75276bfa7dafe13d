import gzip
import io
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files.errors import FileError
from isrht.files.opening import find, format_of, open_rows, read_rows
from isrht.files.writing import write_rows

TEXT = b"1 1:1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.svm", "a.svm", "plain", "odd[1].svm"):
        (tmp_path / name).write_bytes(TEXT)
    return tmp_path


def test_paths_patterns_and_lists(folder):
    assert find("plain") == find(folder.__class__("plain")) == ["plain"]
    assert find("?.svm") == ["a.svm", "b.svm"]
    assert find(["plain", "[ab].svm", "-"]) == ["plain", "a.svm", "b.svm", "-"]
    assert find("odd[1].svm") == ["odd[1].svm"], "a file that is there is no pattern"


def test_what_is_not_there(folder):
    with pytest.raises(FileNotFoundError, match="there is no file nowhere.svm"):
        open_rows("nowhere.svm")
    with pytest.raises(FileNotFoundError, match=r"no file matches \*.csv"):
        open_rows("*.csv")
    with pytest.raises(ValueError, match="no files are given"):
        open_rows([])
    (folder / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="there are no files in the folder"):
        read_rows(folder / "empty")


def test_formats_by_extension_or_as_asked(folder):
    assert format_of(["a.csv", "b.csv.gz"]) == "csv"
    with pytest.raises(ValueError, match=r"different formats .* a.csv \(csv\), plain \(libsvm\)"):
        format_of(["a.csv", "plain"])
    (folder / "odd.csv").write_bytes(TEXT)
    X, y, facts = read_rows("odd.csv", format="libsvm")
    assert (X.shape, y.tolist(), facts.format) == ((1, 1), [1], "libsvm")
    with pytest.raises(ValueError, match="unknown format 'arff': choose one of libsvm, csv"):
        open_rows("plain", format="arff")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"n_features": 0}, "n_features must be a positive whole number or None, got 0"),
        ({"n_features": 2.5}, "n_features must be"),
        ({"limits": 5}, "limits must be an isrht.files.Limits, got 5"),
        ({"index_base": 2}, "index_base must be 'auto', 0 or 1, got 2"),
        ({"label": 0}, "label is for tables"),
        ({"label_type": "int"}, "label_type must be 'number', 'text' or None, got 'int'"),
        ({"format": "npy", "index_base": 1}, "index_base is for LIBSVM text, not for npy"),
    ],
)
def test_wrong_options(folder, options, problem):
    with pytest.raises(ValueError, match=problem):
        open_rows("plain", **options)


def test_blocks_have_a_positive_whole_number_of_rows(folder):
    for wrong in (0, 2.5, "few"):
        with pytest.raises(ValueError, match="n_rows must be a positive whole number or None, got"):
            open_rows("plain").in_blocks(wrong)


@pytest.mark.parametrize("format", ["npy", "npz", "parquet"])
def test_what_is_not_text_needs_a_plain_file(folder, format):
    with pytest.raises(FileError, match=f"standard input: {format} cannot be read from a pipe"):
        open_rows("-", format=format)
    (folder / f"x.{format}.gz").write_bytes(b"x")
    with pytest.raises(FileError, match=f"only text may be packed, not {format}"):
        open_rows(f"x.{format}.gz")


# ------------------------------------------------------------ file objects


class Pipe:
    """A file object that gives its bytes a few at a time and only once, as a socket or a response does."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def read(self, size=-1):
        return self.content.read(min(size, 7) if size > 0 else size)


FILES = {"libsvm": {}, "csv": {"label": "label"}, "tsv": {"label": 0}, "npy": {"label": 0}, "npz": {},
         "parquet": {"label": "label"}}  # fmt: skip
NEEDS = {"csv": "pandas", "tsv": "pandas", "parquet": "pyarrow"}


@pytest.fixture(params=FILES)
def content(request, tmp_path):
    """Give every format in turn, and a file of it."""
    format = request.param
    pytest.importorskip(NEEDS.get(format, "numpy"))
    X, y = np.arange(1.0, 13).reshape(4, 3), np.array([1, 2, 1, 2])
    path = tmp_path / f"x.{format}"
    if format == "npz":
        np.savez(path, X=X, y=y)
    else:
        write_rows(path, X, y)
    return format, path


def check_rows_of(rows):
    X, y, _ = rows
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, np.arange(1.0, 13).reshape(4, 3))
    assert y.tolist() == [1, 2, 1, 2]


def test_binary_file_objects(content):
    format, path = content
    options = {"format": format} | FILES[format]
    for file in (io.BytesIO(path.read_bytes()), Pipe(path.read_bytes())):
        check_rows_of(read_rows(file, **options))
    with open(path, "rb") as file:
        check_rows_of(read_rows(file, **FILES[format]))
        assert not file.closed
    with open(path, "rb", buffering=0) as file:
        check_rows_of(read_rows([file], **FILES[format]))


def test_file_objects_that_can_seek_are_read_again_from_where_they_stood(content):
    format, path = content
    file = io.BytesIO(b"before" + path.read_bytes())
    file.seek(6)
    rows = open_rows(file, format=format, **FILES[format]).in_blocks(3)
    rows.scan()
    for _ in range(2):
        assert [X.shape for X, _ in rows] == [(3, 3), (1, 3)]


def test_file_objects_that_cannot_seek_are_read_once(content):
    format, path = content
    known = {"n_features": 3} | ({"index_base": 1} if format == "libsvm" else {})
    rows = open_rows(Pipe(path.read_bytes()), format=format, **known, **FILES[format])
    assert sum(len(y) for _, y in rows) == 4
    with pytest.raises(FileError, match="the Pipe: has been read already"):
        list(rows)


def test_a_path_that_can_read_is_a_path(folder):
    class PathThatReads(type(folder)):
        def read(self):
            raise AssertionError("never called")

    assert read_rows(PathThatReads("plain"))[0].shape == (1, 1)


def test_several_file_objects_and_paths_are_one(folder):
    X, y, _ = read_rows([io.BytesIO(b"2 2:3\n"), "plain", io.BytesIO(b"3 1:1")])
    assert (X.toarray().tolist(), y.tolist()) == ([[0, 3], [1, 0], [1, 0]], [2, 1, 3])


def test_text_is_refused(folder):
    with open("plain") as file, pytest.raises(TypeError, match="plain.* gives text, not bytes: open it in binary mode"):
        read_rows(file)
    with pytest.raises(TypeError, match="StringIO .* gives text, not bytes"):
        open_rows(io.StringIO("1 1:1\n"))
    with pytest.raises(TypeError, match="gives text"):
        open_rows([io.StringIO("1 1:1\n")])


def test_errors_name_file_objects(folder):
    with pytest.raises(FileError, match="the BytesIO, line 2, column 3: 'x' where an index") as raised:
        read_rows(io.BytesIO(b"1 1:1\n1 x\n"))
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    (folder / "plain").write_bytes(b"1 x")
    with open("plain", "rb") as file, pytest.raises(FileError, match="plain, line 1, column 3"):
        read_rows(file)


def test_file_objects_are_not_unpacked_but_may_be_unpacking(folder):
    with gzip.open("x.svm.gz", "wb") as out:
        out.write(TEXT)
    with gzip.open("x.svm.gz") as file:
        assert read_rows(file)[0].shape == (1, 1)
    with open("x.svm.gz", "rb") as file, pytest.raises(FileError, match="x.svm.gz, line 1, column 1: .* is binary"):
        read_rows(file)


def test_a_file_object_that_does_not_wait_does_not_pass_for_an_empty_one():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    raises = pytest.raises(BlockingIOError, match="no bytes yet")
    with open(writer, "wb"), open(reader, "rb", buffering=0) as file, raises:
        read_rows(file)


def test_a_header_that_lies_allocates_nothing():
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**10)})
    with pytest.raises(FileError, match="the BytesIO: it is no NPY file .*it is shorter than its header says"):
        read_rows(io.BytesIO(b"\x93NUMPY\x01\x00" + header.getvalue()[8:] + bytes(100)), format="npy")


def test_a_file_in_a_folder_that_may_not_be_looked_into(folder, monkeypatch):
    def forbidden(path, **_):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "stat", forbidden)
    with pytest.raises(PermissionError, match="Permission denied: 'secret'"):
        open_rows("secret")


def test_numpy_integers_are_whole_numbers(folder):
    assert read_rows("plain", n_features=np.int64(3))[0].shape == (1, 3)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rows.h5", "it is HDF5: give RowSource one of its arrays, as h5py.File"),
        ("rows.H5AD", "it is AnnData: give RowSource what anndata.read_h5ad"),
        ("rows.zarr/c/0", "rows.zarr: it is Zarr: give RowSource one of its arrays, as zarr.open"),
        ("rows.feather", "it is a file of Arrow: give RowSource a pyarrow.dataset.dataset.path, format='feather'"),
    ],
)
def test_formats_of_others_are_named(tmp_path, name, problem):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"1 1:2\n")
    with pytest.raises(FileError, match=problem):
        open_rows(path)
    with pytest.raises(FileError, match=problem):
        open_rows(tmp_path)
    assert open_rows(path, format="libsvm").read()[0].toarray().tolist() == [[2.0]]
