"""Rows of NPY and NPZ files."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files import limits
from isrht.files.errors import FileError
from isrht.files.limits import Limits
from isrht.files.opening import open_rows, read_rows

X = np.array([[1, 0, 2.5], [0, 3, 0], [-1, 0, 0]])


@pytest.fixture
def npy(tmp_path):
    def make(array, name="x.npy"):
        np.save(tmp_path / name, array)
        return tmp_path / name

    return make


@pytest.fixture
def npz(tmp_path):
    def make(name="x.npz", **members):
        np.savez_compressed(tmp_path / name, **members)
        return tmp_path / name

    return make


def parts(matrix, **more):
    matrix = sp.csr_matrix(matrix)
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape, **more}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.float16, ">f8", bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(npy, dtype, order):
    expected = np.asarray(X, dtype=dtype, order=order)
    found, y, facts = read_rows(npy(expected))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert y is None
    assert (facts.n_samples, facts.n_features, facts.nnz, facts.classes) == (3, 3, 4, None)


@pytest.mark.parametrize("label", [0, -3, "0"])
def test_one_column_of_npy_may_be_the_label(npy, label):
    rows = open_rows(npy(X), label=label).in_blocks(2)
    for _ in range(2):
        blocks = list(rows)
        assert [part.shape for part, _ in blocks] == [(2, 2), (1, 2)]
        np.testing.assert_array_equal(np.concatenate([part for part, _ in blocks]), X[:, 1:])
        np.testing.assert_array_equal(np.concatenate([y for _, y in blocks]), X[:, 0])
    assert rows.scan().classes == {-1: 1, 0: 1, 1: 1}
    assert [y.tolist() for _, y in open_rows(npy(X), label=label, label_type="text")] == [["1", "0", "-1"]]


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (X[0], "the array has 1 dimensions, not 2"),
        (np.array([["a"]]), "the array is of type <U1, not of numbers"),
        (X + 1j, "of type complex128"),
        (np.array([[1, np.nan]]), r"row 1, column 1: nan is not finite"),
        (np.zeros((0, 3)), "there are no rows"),
    ],
)
def test_what_is_wrong_in_npy(npy, array, problem):
    with pytest.raises(FileError, match=f"x.npy: .*{problem}"):
        read_rows(npy(array))


def test_npy_of_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(FileError, match="it is no NPY file of numbers"):
        read_rows(tmp_path / "x.npy")


def test_what_is_no_npy_file(npy):
    path = npy(X)
    content = path.read_bytes()
    damaged = [
        content.replace(b"{'descr'", header) for header in (b"{'de(cr'", b"{(descr'", b"\xc8'descr'", b"['descr'")
    ]
    for wrong in (b"", content[:-1], b"1 1:2\n", content[:20], *damaged):
        path.write_bytes(wrong)
        with pytest.raises(FileError, match="it is no NPY file"):
            read_rows(path)


def test_dense_rows_must_have_the_expected_width(npy, npz):
    for path in (npy(X), npz(X=X)):
        with pytest.raises(FileError, match="there are 3 features in a row, not 4"):
            read_rows(path, n_features=4)
    with pytest.raises(FileError, match="y.npy: there are 2 features in a row, not 3"):
        read_rows([npy(X), npy(X[:, :2], "y.npy")])


@pytest.mark.parametrize("labels", [None, [1, 2, 1], ["a", "b", "a"]])
@pytest.mark.parametrize("sparse", [False, True])
def test_npz(npz, labels, sparse):
    members = parts(X) if sparse else {"X": X}
    path = npz(**members, **({} if labels is None else {"y": labels}))
    found, y, facts = read_rows(path)
    assert sp.issparse(found) == sparse
    np.testing.assert_array_equal(found.toarray() if sparse else found, X)
    assert (y if y is None else y.tolist()) == labels
    assert facts.nnz == 4
    rows = open_rows(path).in_blocks(2)
    for _ in range(2):
        assert [part.shape for part, _ in rows] == [(2, 3), (1, 3)]
    assert [None if y is None else y.tolist() for _, y in rows] == (
        [None, None] if labels is None else [labels[:2], labels[2:]]
    )
    assert rows.scan() == facts


def test_the_npz_of_scipy(tmp_path):
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    np.testing.assert_array_equal(read_rows(tmp_path / "x.npz")[0].toarray(), X)
    sp.save_npz(tmp_path / "x.npz", sp.csc_array(X))
    with pytest.raises(FileError, match="its sparse matrix is not CSR but b'csc'"):
        read_rows(tmp_path / "x.npz")


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_sparse_npz_follows_the_rule_of_libsvm_text(npz, n_features):
    rows = open_rows(npz(**parts(X)), n_features=n_features).in_blocks(2)
    facts = rows.scan()
    unseen = np.count_nonzero(X[:, n_features:])
    assert (facts.n_unseen, facts.nnz, facts.n_features) == (unseen, 4, n_features)
    found = sp.vstack([part for part, _ in rows]).toarray()
    np.testing.assert_array_equal(found, np.pad(X, ((0, 0), (0, 2)))[:, :n_features])


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"Z": X}, "it has neither X nor data"),
        ({"X": X[:, :0]}, r"X has no columns: its shape is \(3, 0\)"),
        (parts(X) | {"shape": np.array([3, 2**40])}, "it has 1,099,511,627,776 features, more than 268,435,456; "),
        (parts(X) | {"shape": np.array([3, 2**64 - 1], np.uint64)}, "its sparse matrix is inconsistent|features"),
        ({"X": X, "y": [1, 2]}, r"y has the shape \(2,\), but there are 3 rows"),
        ({"X": X, "y": [1, np.inf, 2]}, "row 2, column 'y': inf is not finite"),
        ({"X": X * np.nan}, "row 1, column 1: nan is not finite"),
        (parts(X) | {"indices": np.array([0, 9, 1, 0])}, "its sparse matrix is inconsistent"),
        (parts(X) | {"indptr": np.array([0, 2, 1, 4])}, "its sparse matrix is inconsistent"),
        (parts(X) | {"indptr": np.array([0.5, 2, 3, 4])}, "indptr is of type float64, not of integers"),
        (parts(X) | {"shape": np.array([[3, 3]])}, "shape has 2 dimensions, not 1"),
        (parts(X) | {"shape": np.array([3, 3, 3])}, "its sparse matrix is inconsistent"),
        (parts(X) | {"data": np.array([1, np.inf, 3, 4])}, "row 1: a value is not finite"),
    ],
)
def test_what_is_wrong_in_npz(npz, members, problem):
    with pytest.raises(FileError, match=problem):
        read_rows(npz(**members))


def test_a_wide_sparse_matrix_is_read_where_it_is_meant(npz):
    path = npz(**parts(X) | {"shape": np.array([3, 2**40])})
    assert read_rows(path, limits=Limits(features=2**40))[0].shape == (3, 2**40)
    found, _, facts = read_rows(path, n_features=2)
    np.testing.assert_array_equal(found.toarray(), X[:, :2])
    assert facts.n_unseen == np.count_nonzero(X[:, 2:])


def test_damaged_archives(npz):
    path = npz(X=np.arange(3000.0).reshape(1000, 3))
    content = path.read_bytes()
    flipped = bytearray(content)
    flipped[len(flipped) // 3] ^= 0xFF
    for wrong in (b"", content[:-30], b"1 1:2\n", bytes(flipped)):
        path.write_bytes(wrong)
        with pytest.raises(FileError, match="it is no NPZ file of numbers"):
            read_rows(path)


def test_a_bomb_is_not_unpacked(npz, monkeypatch):
    path = npz(X=np.zeros((1000, 1000)))
    with pytest.raises(FileError, match="unpacks to more than 1,000,000 bytes"):
        read_rows(path, limits=Limits(unpacked_bytes=10**6))
    monkeypatch.setattr(limits, "FLOOR", 1000)
    with pytest.raises(FileError, match="unpacks to more than"):
        read_rows(path)


def test_a_header_that_lies_allocates_nothing(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**10)})
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(100))
    with pytest.raises(FileError, match="X.npy is shorter than its header says"):
        read_rows(tmp_path / "x.npz")
