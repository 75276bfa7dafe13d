"""Rows of CSV, TSV and Parquet files."""

import gzip
import io
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.files import _tables as tables
from isrht.files.errors import FileError
from isrht.files.opening import open_rows, read_rows
from isrht.files.writing import write_rows

pytest.importorskip("pandas")

TABLE = "age,kind,height\n1,spam,0.1\n2,ham,-3e-5\n3,spam,4\n"
X = [[1, 0.1], [2, -3e-5], [3, 4]]


@pytest.fixture
def csv(tmp_path):
    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


@pytest.mark.parametrize("label", ["kind", 1, -2, "1"])
def test_the_label_by_name_or_position(csv, label):
    found, y, facts = read_rows(csv(TABLE), label=label)
    np.testing.assert_array_equal(found, X)
    assert y.tolist() == ["spam", "ham", "spam"]
    assert (facts.format, facts.n_samples, facts.n_features, facts.nnz) == ("csv", 3, 2, 6)
    assert (facts.classes, facts.index_base, facts.max_index) == ({"ham": 1, "spam": 2}, None, None)


@pytest.mark.parametrize("block_rows", [1, 2, 5])
def test_blocks_again_and_again(csv, block_rows):
    rows = open_rows(csv(TABLE), label="kind").in_blocks(block_rows)
    for _ in range(2):
        blocks = list(rows)
        assert [len(part) for part, _ in blocks] == {1: [1, 1, 1], 2: [2, 1], 5: [3]}[block_rows]
        np.testing.assert_array_equal(np.concatenate([part for part, _ in blocks]), X)
        assert np.concatenate([y for _, y in blocks]).tolist() == ["spam", "ham", "spam"]
    assert rows.scan() == read_rows(csv(TABLE), label="kind")[2]


def test_tabs_packing_line_ends_quotes_and_a_byte_order_mark(csv):
    tsv = gzip.compress(b"\xef\xbb\xbf" + TABLE.replace(",", "\t").replace("\n", "\r\n").encode())
    np.testing.assert_array_equal(read_rows(csv(tsv, "x.tsv.gz"), label="kind")[0], X)
    found, y, _ = read_rows(csv('"a, b","label"\n"1","x, y"\n\n2 , z \n'), label="label")
    assert (found.tolist(), y.tolist()) == ([[1], [2]], ["x, y", "z"])


@pytest.mark.parametrize(
    ("text", "label", "rows", "labels"),
    [
        ("1,2\n3,4\n", None, [[1, 2], [3, 4]], None),
        ("a,b\n3,4\n", None, [[3, 4]], None),
        ("x,1\ny,2\n", 0, [[1], [2]], ["x", "y"]),
        ("0,1,label\n5,6,7\n", "label", [[5, 6]], [7.0]),
        ("1,2\n3,4", 0, [[2], [4]], [1.0, 3.0]),
        ("True,2\nFalse,4", None, [[1, 2], [0, 4]], None),
    ],
)
def test_a_header_is_told_from_a_row(csv, text, label, rows, labels):
    found, y, _ = read_rows(csv(text), label=label)
    assert found.tolist() == rows
    assert (y if y is None else y.tolist()) == labels


def test_labels_are_numbers_if_all_are(csv):
    path = csv("y,a\n1,2\n+1,3\nNA,4\n")
    assert read_rows(path, label="y")[1].tolist() == ["1", "+1", "NA"]
    with pytest.raises(FileError, match="table.csv: the label of row 3, 'NA', is no number, as the first is"):
        list(open_rows(path, label="y").in_blocks(1))
    with pytest.raises(FileError, match="the label of row 3, 'NA', is no number$"):
        read_rows(path, label="y", label_type="number")
    rows = open_rows(path, label="y").in_blocks(1)
    rows.scan()
    assert [y[0] for _, y in rows] == ["1", "+1", "NA"]


def test_numbers_are_exact(csv, rng):
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-300, 300, 2000)
    found, _, _ = read_rows(csv("x,y\n" + "".join(f"{value!r},0\n" for value in values.tolist())))
    np.testing.assert_array_equal(found[:, 0], values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n3,x\n", "row 2, column 'b': 'x' is no number"),
        ("a,b\n1,2\n3,\n", "row 2, column 'b': '' is no number"),
        ("a,b\n1,2\n3\n", "line 3: the row has 1 field, but the header has 2"),
        ("1,2\n\n \n3\n", "line 4: the row has 1 field, but the first row has 2"),
        ("a,b,c\n1,2,3\n1,2\n", "line 3: the row has 2 fields, but the header has 3"),
        ("a,b,c\n1,2,\n1,2\n", "line 3: the row has 2 fields, but the header has 3"),
        ("a,b\n1,1_0\n", "row 1, column 'b': '1_0' is no number"),
        ("a,b\n1,2\n3,4,5\n", "line 3: the row has 3 fields, but the header has 2"),
        ("a,b\n1,2,3\n4,5,6\n", "line 2: the row has 3 fields, but the header has 2"),
        ("a,b\r1,2\r\r3,4,5\r", "line 4: the row has 3 fields, but the header has 2"),
        ("1,2\n3,4\n5,6,7\n8,9\n", "line 3: the row has 3 fields, but the first row has 2"),
        ('a,b\n"1,5",2\n"1,5",2,3\n', "line 3: the row has 3 fields, but the header has 2"),
        ('a,b\n1,"2\n3,4\n', "line 2: it is no text of columns .a quotation mark is not closed"),
        ('a,b\n1,"2\n3",4\n', "line 2: it is no text of columns .a quotation mark is not closed"),
        (b"a,b\n1,2\n3,\xff\n", "line 3: it is no text of columns"),
        ("a,b\n1,2\n3,inf\n", "row 2, column 'b': inf is not finite"),
        ("a,b\n1,2\n3,1e999\n", "row 2, column 'b': inf is not finite"),
        ("a,b\n1,nan\n", "row 1, column 'b': 'nan' is no number"),
        ("1,2\n3,x\n", "row 2, column 1: 'x' is no number"),
        ("a,b,c\n1,2\n", "line 2: the row has 2 fields, but the header has 3"),
        (b"\xff\xfe\x00", "line 1: it is no text of columns"),
        ("", "there are no rows in it"),
        ("a,b\n", "there are no rows in it"),
    ],
)
def test_what_is_wrong_is_named(csv, text, problem):
    with pytest.raises(FileError, match=f"table.csv.*({problem})"):
        read_rows(csv(text))


def test_the_line_is_right_in_whatever_block_it_is(csv):
    text = "a,kind\n" + "1,x\n" * 10 + "\n" + "1,x\n" * 10
    for wrong, count in (("1\n", "1 field,"), ("1,x,\n", "3 fields,")):
        for block_rows in (1, 3, 20, 21, 100):
            rows = open_rows(csv(text + wrong + "1,y\n"), label="kind").in_blocks(block_rows)
            with pytest.raises(FileError, match=f"table.csv, line 23: the row has {count} but the header has 2"):
                list(rows)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_line_ends_of_every_system(csv, end, monkeypatch):
    text = csv(TABLE.replace("\n", end))
    for size in (2**20, *range(1, 9)):
        monkeypatch.setattr(tables, "CHUNK_BYTES", size)
        found, y, _ = read_rows(text, label="kind")
        np.testing.assert_array_equal(found, X)
        assert y.tolist() == ["spam", "ham", "spam"]


def test_blank_lines_before_the_header(csv):
    assert read_rows(csv("\n  \n" + TABLE), label="kind")[0].tolist() == X


def test_a_line_longer_than_a_chunk(csv, monkeypatch):
    monkeypatch.setattr(tables, "CHUNK_BYTES", 16)
    text = ",".join(f"name{k}" for k in range(100)) + "\n" + ",".join(map(str, range(100)))
    assert read_rows(csv(text))[0].tolist() == [list(range(100))]


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("weight", "there is no column 'weight'; there are 'age', 'kind', 'height'"),
        (3, "there is no column 3; there are 3 columns"),
        (-4, "there is no column -4"),
    ],
)
def test_a_label_column_that_is_not_there(csv, label, problem):
    with pytest.raises(FileError, match=problem):
        read_rows(csv(TABLE), label=label)


@pytest.mark.parametrize(
    ("wrong", "shown"), [("", ""), ("nan", "nan"), ("-inf", "-inf"), ("x" * 257, "x" * 24), ("\a", ".x07")]
)
def test_what_is_no_label_is_named(csv, wrong, shown):
    with pytest.raises(FileError, match=f"row 2, column 'y': '{shown}' is no label"):
        read_rows(csv(f"y,a\n1,2\n{wrong},3\n"), label="y")


def test_columns_must_be_as_many_as_expected(csv):
    assert read_rows(csv(TABLE), label="kind", n_features=2)[0].shape == (3, 2)
    with pytest.raises(FileError, match="there are 2 features in a row, not 5"):
        read_rows(csv(TABLE), label="kind", n_features=5)


def test_files_must_have_the_same_columns(csv):
    paths = [csv("a,b\n1,2\n", "1.csv"), csv("a,b\n3,4\n", "2.csv"), csv("b,a\n1,2\n", "3.csv")]
    assert read_rows(paths[:2])[0].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileError, match="3.csv: its columns are not those of"):
        read_rows(paths)


def test_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    rows = open_rows("-", format="csv", label="kind").in_blocks(2)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in rows]), X)
    with pytest.raises(FileError, match="standard input: has been read already"):
        list(rows)


def test_a_truncated_archive(csv):
    with pytest.raises(FileError, match="x.csv.gz: the archive is truncated"):
        read_rows(csv(gzip.compress(TABLE.encode() * 1000)[:-10], "x.csv.gz"), label="kind")


def test_without_pandas_it_says_what_to_install(csv, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"reading CSV or TSV needs pandas, .* pip install 'isrht\[files\]'"):
        read_rows(csv(TABLE))


# ------------------------------------------------------------ Parquet


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    def make(columns, name="table.parquet", **options):
        pq.write_table(pa.table(columns), tmp_path / name, **options)
        return tmp_path / name

    return make


COLUMNS = {"age": [1, 2, 3], "kind": ["spam", "ham", "spam"], "height": [0.1, -3e-5, 4.0]}


@pytest.mark.parametrize("label", ["kind", 1, -2])
def test_parquet(parquet, label):
    path = parquet(COLUMNS, row_group_size=2)
    found, y, facts = read_rows(path, label=label)
    np.testing.assert_array_equal(found, X)
    assert y.tolist() == ["spam", "ham", "spam"]
    assert facts == open_rows(path, label=label).scan()
    rows = open_rows(path, label=label).in_blocks(1)
    assert [part.tolist() for part, _ in rows] == [[row] for row in X]


def test_labels_in_parquet_have_the_type_of_their_column(parquet):
    assert read_rows(parquet({"y": [1, 2], "x": [True, False]}), label="y")[1].tolist() == [1.0, 2.0]
    assert read_rows(parquet({"y": ["1", "2"], "x": [1, 2]}), label="y")[1].tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("columns", "label", "problem"),
    [
        (COLUMNS, None, "column 'kind' is of type string, not of numbers"),
        ({"a": [1.0, None]}, None, "row 2, column 'a': nan is not finite"),
        ({"a": [1, None]}, None, "row 2, column 'a': nan is not finite"),
        ({"a": [True, None]}, None, "row 2, column 'a': nan is not finite"),
        ({"a": [1, 2], "y": ["x", None]}, "y", "row 2, column 'y': '' is no label"),
        ({"a": [1, 2], "y": [1.0, None]}, "y", "row 2, column 'y': nan is not finite"),
        (COLUMNS, "weight", "there is no column 'weight'"),
    ],
)
def test_what_is_wrong_in_parquet_is_named(parquet, columns, label, problem):
    with pytest.raises(FileError, match=problem):
        read_rows(parquet(columns), label=label)


def test_what_is_no_parquet_file(parquet, tmp_path):
    path = parquet(COLUMNS)
    content = path.read_bytes()
    for wrong in (b"", content[:-20], b"1 1:2\n", content[: len(content) // 2]):
        path.write_bytes(wrong)
        with pytest.raises(FileError, match="it is no Parquet file"):
            read_rows(path)


@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_damage_anywhere_in_a_parquet_file_is_an_error_of_the_file_if_it_is_seen(parquet, compression):
    path = parquet({"a": [1.0, 2.0, 3.0]}, compression=compression)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        problem = problem_of(path)
        assert problem is None or any(word in problem for word in ("Parquet file", "column", "rows"))


def problem_of(path):
    """Return what is wrong with a file of one feature, or None."""
    try:
        assert read_rows(path)[0].shape[1] == 1
    except FileError as error:
        return str(error)
    return None


def test_values_whose_sum_overflows_are_read_without_a_word(csv):
    found, *_ = read_rows(csv("a,b\n1.7e308,1\n1.7e308,2\n"))
    assert found[:, 0].tolist() == [1.7e308, 1.7e308]


def test_labels_alone_are_rows_without_features(tmp_path):
    for name in ("rows.parquet", "rows.csv", "rows.npy"):
        write_rows(tmp_path / name, np.ones((3, 1)))
        X, y, _ = read_rows(tmp_path / name, label=0)
        assert X.shape == (3, 0)
        assert_array_equal(y, np.ones(3))


def test_floats_of_four_bytes_stay(parquet, rng):
    X = rng.standard_normal((20, 3)).astype(np.float32)
    path = parquet({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": np.arange(20) % 2})
    found, y, _ = read_rows(path, label="y")
    assert found.dtype == np.float32
    assert_array_equal(found, X)
    assert_array_equal(y, np.arange(20) % 2)
    mixed, _, _ = read_rows(parquet({"a": X[:, 0], "b": X[:, 1].astype(float)}))
    assert mixed.dtype == np.float64


@pytest.mark.parametrize("size", [-1, 3], ids=["lists", "lists of a fixed size"])
def test_lists_are_rows(parquet, size, rng):
    pa = pytest.importorskip("pyarrow")
    X = rng.standard_normal((7, 3)).astype(np.float32)
    path = parquet({"x": pa.array(X.tolist(), pa.list_(pa.float32(), size)), "y": list("abababa")})
    found, y, _ = open_rows(path, label="y").in_blocks(2).read()
    assert found.dtype == np.float32
    assert_array_equal(found, X)
    assert y.tolist() == list("abababa")


SPARSE = {"indices": [[2, 0], [], [1]], "values": [[3.0, 1.0], [], [2.0]]}


@pytest.mark.parametrize("as_struct", [False, True], ids=["two columns", "structures"])
def test_lists_of_indices_and_values_are_sparse_rows(parquet, as_struct):
    pa = pytest.importorskip("pyarrow")
    columns = {name: pa.array(lists) for name, lists in SPARSE.items()}
    if as_struct:
        sizes = pa.array([5, 5, 5])
        columns = {"x": pa.StructArray.from_arrays([sizes, *columns.values()], names=["size", *columns])}
    path = parquet(columns | {"y": [1, 2, 1]})
    width = 5 if as_struct else 3
    expected = np.zeros((3, width))
    expected[[0, 0, 2], [2, 0, 1]] = 3, 1, 2
    for found in (
        read_rows(path, label="y")[0],
        sp.vstack([X for X, _ in open_rows(path, label="y").in_blocks(1)], format="csr"),
    ):
        assert sp.issparse(found)
        assert_array_equal(found.toarray(), expected)
    rows = open_rows(path, label="y", n_features=2)
    ((X, _),) = rows
    assert_array_equal(X.toarray(), expected[:, :2])
    assert rows.n_unseen == 1


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"x": [[1.0, 2.0], [1.0]]}, "row 2: its list has 1 numbers, the one of the first row 2"),
        ({"x": [[1.0], None]}, "row 2: there is no list"),
        ({"x": [["a"], ["b"]]}, "column 'x' is of type list.*, not of numbers"),
        ({"x": [[1.0], [float("nan")]]}, "row 2, column 1: nan is not finite"),
        ({"indices": [[0], [1, 2]], "values": [[1.0], [1.0]]}, "row 2: it has not as many indices as values"),
        ({"indices": [[0], [-1]], "values": [[1.0], [1.0]]}, "indices of its sparse rows are no whole numbers from 0"),
        ({"indices": [[0], [1]], "values": [[1.0], [float("inf")]]}, "row 2: a value is not finite"),
    ],
)
def test_what_is_wrong_in_lists_is_named(parquet, columns, problem):
    with pytest.raises(FileError, match=problem):
        read_rows(parquet(columns))


@pytest.mark.parametrize("reader", ["read", "iter_batches"])
def test_too_little_memory_names_the_file(parquet, monkeypatch, reader):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = parquet({"a": [1.0, 2.0]})

    def fail(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(pq.ParquetFile, reader, fail)
    if reader == "iter_batches":
        monkeypatch.setattr(tables, "BATCH_BYTES", 1)
        monkeypatch.setattr("isrht.files.rows.BLOCK_ELEMENTS", 1)
    with pytest.raises(MemoryError, match=r"table.parquet: there is not enough memory"):
        read_rows(path)


@pytest.mark.parametrize("n_rows", [1, 50])
def test_a_batch_that_is_read_as_a_table_has_the_same_rows(parquet, monkeypatch, n_rows):
    values = {"a": np.arange(n_rows) / 3, "b": np.arange(n_rows, dtype=np.int32), "label": np.arange(n_rows) % 2}
    path = parquet(values)
    monkeypatch.setattr("isrht.files.rows.BLOCK_ELEMENTS", 14)

    def blocks():
        return list(open_rows(path, label="label"))

    at_once = blocks()
    monkeypatch.setattr(tables, "BATCH_BYTES", 1)
    in_batches = blocks()
    assert len(at_once) == len(in_batches) == -(-n_rows // 7)
    for one, other in zip(at_once, in_batches, strict=True):
        assert_array_equal(one[0], other[0])
        assert_array_equal(one[1], other[1])


def test_batches_leave_room_for_rows_that_arrow_reads_too_many(parquet, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    path = parquet({"a": np.arange(1000.0), "label": np.arange(1000) % 2})
    monkeypatch.setattr("isrht.files.rows.BLOCK_ELEMENTS", 10)
    monkeypatch.setattr(tables, "BATCH_BYTES", 128 * 8)
    sizes, iter_batches = [], pq.ParquetFile.iter_batches

    def noted(file, batch_size):
        sizes.append(batch_size)
        return iter_batches(file, batch_size)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    assert_array_equal(read_rows(path, label="label")[0][:, 0], np.arange(1000.0))
    assert sizes == [80]
    roomy = [rows for rows in range(1, 66) if tables.has_reserve(rows)]
    assert roomy == [5, 9, 10, *range(17, 21), *range(33, 41), 65]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("chunk", [1, 2, 7, 2**20])
def test_lines_are_numbered_however_the_text_is_cut(tmp_path, monkeypatch, end, chunk):
    monkeypatch.setattr(tables, "CHUNK_BYTES", chunk)
    path = tmp_path / "table.csv"
    path.write_bytes(end.join([b"a,b", b"1,2", b"", b"3,4", b" ", b"5,6,7", b"8,9"]))
    with pytest.raises(FileError, match="line 6: the row has 3 fields, but the header has 2"):
        read_rows(path)
    path.write_bytes(end.join([b"", b"a,b", b"1,2", b"", b"3,4"]))
    for block_rows in (None, 1):
        X = np.concatenate([X for X, _ in open_rows(path).in_blocks(block_rows)])
        assert_array_equal(X, [[1, 2], [3, 4]])


def test_rows_of_wide_tables_are_made_many_at_a_time_and_numbered_rightly(tmp_path, rng, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y, path = rng.standard_normal((300, 6)), np.arange(300) % 2, tmp_path / "rows.parquet"
    write_rows(path, X, y)
    monkeypatch.setattr(tables, "PIECE_ROWS", 64)
    blocks = list(open_rows(path, label="label").in_blocks(10))
    assert {part.shape[0] for part, _ in blocks} == {10}
    assert_array_equal(np.vstack([part for part, _ in blocks]), X)
    assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    X[222, 3] = np.nan
    pq.write_table(pa.table({**{f"f{i}": column for i, column in enumerate(X.T)}, "label": y}), path)
    with pytest.raises(FileError, match="row 223, column 'f3'"):
        list(open_rows(path, label="label").in_blocks(10))
