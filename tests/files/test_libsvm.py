"""Rows of LIBSVM text from files: bases, widths, labels, blocks, pipes and errors."""

import bz2
import gzip
import io
import lzma
import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from libsvm_parsers import REFUSED
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from isrht.files import _libsvm as module
from isrht.files import _parsed
from isrht.files._libsvm import PROBLEMS
from isrht.files.errors import FileError
from isrht.files.limits import Limits
from isrht.files.opening import open_rows, read_rows

TEXT = b"1 1:0.5 3:2\n-1 2:1\n1 4:7 # last\n"
DENSE = [[0.5, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 7]]


@pytest.fixture
def file(tmp_path):
    def make(content, name="set"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


@pytest.fixture
def pipe(monkeypatch):
    def make(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    return make


def together(rows):
    blocks = list(rows)
    X = sp.vstack([X for X, _ in blocks]).toarray()
    return X, None if blocks[0][1] is None else np.concatenate([y for _, y in blocks])


@pytest.mark.parametrize(
    ("extension", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_plain_and_packed_text_are_the_same(kernel, file, extension, pack):
    X, y, facts = read_rows(file(pack(TEXT), f"set{extension}"))
    assert sp.issparse(X)
    assert X.format == "csr"
    assert X.has_canonical_format
    np.testing.assert_array_equal(X.toarray(), DENSE)
    np.testing.assert_array_equal(y, [1, -1, 1])
    assert (facts.n_samples, facts.n_features, facts.nnz, facts.index_base, facts.max_index) == (3, 4, 4, 1, 4)
    assert (facts.classes, facts.label_type, facts.n_unseen) == ({-1.0: 1, 1.0: 2}, "number", 0)


def test_the_same_as_scikit_learn(tmp_path, rng):
    X = sp.random(200, 50, 0.1, "csr", random_state=1, data_rvs=rng.standard_normal)
    dump_svmlight_file(X, rng.integers(0, 3, 200), str(tmp_path / "x"), zero_based=False)
    theirs, their_y = load_svmlight_file(str(tmp_path / "x"), n_features=50, zero_based=False)
    ours, y, _ = read_rows(tmp_path / "x", n_features=50)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    np.testing.assert_array_equal(y, their_y)
    assert y.dtype == their_y.dtype


@pytest.mark.parametrize("block_rows", [None, 1, 2, 3, 100])
def test_blocks_are_the_whole(kernel, file, block_rows):
    rows = open_rows(file(TEXT)).in_blocks(block_rows)
    for _ in range(2):
        X, y = together(rows)
        np.testing.assert_array_equal(X, DENSE)
        np.testing.assert_array_equal(y, [1, -1, 1])
    sizes = [X.shape[0] for X, _ in rows]
    assert sizes == {None: [3], 1: [1, 1, 1], 2: [2, 1], 3: [3], 100: [3]}[block_rows]


def test_blocks_without_block_rows_are_bounded(kernel, file, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 10)
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    monkeypatch.setattr(module, "CHUNK_BYTES", 5)
    wide, narrow = b"1 1:1 2:1 3:1 4:1\n" * 9, b"2 1:1\n" * 20
    sizes = [X.shape[0] for X, _ in open_rows(file(wide + narrow))]
    assert sizes == [3, 3, 3, 7, 7, 6]


def test_several_files_are_one(kernel, file):
    paths = [file(b"1 1:1\n2 2:2", "part-1"), file(b"# nothing\n", "part-2"), file(b"3 3:3\n", "part-3")]
    for asked in (paths, str(paths[0])[:-1] + "*"):
        X, y, facts = read_rows(asked)
        np.testing.assert_array_equal(X.toarray(), np.diag([1, 2, 3]))
        np.testing.assert_array_equal(y, [1, 2, 3])
        assert facts == open_rows(asked).scan()
        np.testing.assert_array_equal(together(open_rows(asked).in_blocks(2))[0], np.diag([1, 2, 3]))


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_line_ends_of_every_system(kernel, file, end, monkeypatch):
    path = file(TEXT.replace(b"\n", end))
    for size in (2**20, 1, 7):
        monkeypatch.setattr(module, "CHUNK_BYTES", size)
        X, y, _ = read_rows(path)
        np.testing.assert_array_equal(X.toarray(), DENSE)
        assert y.tolist() == [1, -1, 1]
        assert [len(y) for _, y in open_rows(path).in_blocks(1)] == [1, 1, 1]


# ------------------------------------------------------------ the base of the indices


def test_the_base_is_found_over_the_whole_of_all_files(kernel, file):
    one, other = file(b"1 1:1\n" * 5, "one"), file(b"1 2:1\n1 0:1\n", "other")
    assert open_rows(one).scan().index_base == 1
    rows = open_rows([one, other])
    facts = rows.scan()
    assert (facts.index_base, facts.n_features, facts.max_index) == (0, 3, 2)
    X, _ = together(rows)
    np.testing.assert_array_equal(X[[0, 5, 6]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(read_rows([one, other])[0].toarray(), X)


def test_an_index_0_in_a_file_of_base_1_is_an_error_with_its_place(kernel, file):
    path = file(b"1 1:1\n1 0:1\n")
    for read in (read_rows, lambda *a, **k: open_rows(*a, **k).scan(), lambda *a, **k: list(open_rows(*a, **k))):
        with pytest.raises(FileError, match=f"{path}, line 2, column 3: index 0 where indices begin with 1"):
            read(path, index_base=1, n_features=3)
    assert read_rows(path, index_base=0)[0].shape == (2, 2)


def test_base_0_leaves_a_first_column_empty(file):
    np.testing.assert_array_equal(read_rows(file(TEXT), index_base=0)[0].toarray(), np.insert(DENSE, 0, 0, axis=1))


# ------------------------------------------------------------ the number of features


@pytest.mark.parametrize("index_base", ["auto", 1])
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 6])
def test_unseen_features_are_dropped_and_counted_and_absent_ones_are_zeros(kernel, file, index_base, n_features):
    path = file(TEXT)
    expected = np.pad(DENSE, ((0, 0), (0, 2)))[:, :n_features]
    unseen = int(np.count_nonzero(np.array(DENSE)[:, n_features:]))
    rows = open_rows(path, n_features=n_features, index_base=index_base).in_blocks(2)
    facts = rows.scan()
    assert (facts.n_features, facts.n_unseen, facts.nnz, rows.n_unseen) == (n_features, unseen, 4, unseen)
    for _ in range(2):
        np.testing.assert_array_equal(together(rows)[0], expected)
        assert rows.n_unseen == unseen
    X, _, read_facts = read_rows(path, n_features=n_features, index_base=index_base)
    np.testing.assert_array_equal(X.toarray(), expected)
    assert read_facts == facts


def test_unseen_features_of_base_0(file):
    path = file(b"1 0:1 2:1 3:1\n")
    for index_base in ("auto", 0):
        X, _, facts = read_rows(path, n_features=3, index_base=index_base)
        np.testing.assert_array_equal(X.toarray(), [[1, 0, 1]])
        assert facts.n_unseen == open_rows(path, n_features=3, index_base=index_base).scan().n_unseen == 1


MANY = b"1 1:1\n1 1:1 2147483647:1\n"


@pytest.mark.parametrize("base", ["auto", 0, 1])
def test_more_features_than_anybody_has_must_be_asked_for(kernel, file, base):
    path = file(MANY)
    problem = f"{path}, line 2, column 7: the index in '2147483647:1' makes more than 268,435,456 features; .*--max-"
    for read in (read_rows, lambda *a, **k: open_rows(*a, **k).scan(), lambda *a, **k: list(open_rows(*a, **k))):
        with pytest.raises(FileError, match=problem):
            read(path, index_base=base)
    assert read_rows(path, index_base=base, limits=Limits(features=2**31))[0].shape == (2, 2**31 - (base != 0))


def test_features_past_those_of_a_model_do_no_harm(kernel, file):
    X, _, facts = read_rows(file(MANY), n_features=3)
    assert (X.shape, facts.n_unseen) == ((2, 3), 1)


def test_the_number_of_features_is_what_is_limited(kernel, file):
    for base, text in ((1, b"1 1:1 5:1\n"), (0, b"1 0:1 4:1\n"), ("auto", b"1 1:1 5:1\n"), ("auto", b"1 4:1\n1 0:1\n")):
        assert read_rows(file(text), index_base=base, limits=Limits(features=5))[0].shape[1] == 5
        with pytest.raises(FileError, match=r"features"):
            read_rows(file(text), index_base=base, limits=Limits(features=4))
    with pytest.raises(FileError, match="it has 6 features, more than 5; .*Limits.features=.*--max-features"):
        read_rows(file(b"1 5:1\n1 0:1\n"), limits=Limits(features=5))


# ------------------------------------------------------------ labels


def test_labels_are_texts_if_one_of_them_is(kernel, file):
    path = file(b"1 1:1\n" * 3 + b"+1 1:1\nspam 1:1\n")
    _, y, facts = read_rows(path)
    assert y.tolist() == ["1", "1", "1", "+1", "spam"]
    assert (facts.classes, facts.label_type) == ({"+1": 1, "1": 3, "spam": 1}, "text")
    assert together(open_rows(path).in_blocks(2))[1].tolist() == y.tolist()


def test_labels_are_looked_at_piece_by_piece(kernel, file, monkeypatch, rng):
    monkeypatch.setattr(_parsed, "PIECE", 7)
    texts = ["".join(rng.choice(list("abé"), rng.integers(1, 9))) for _ in range(100)]
    _, y, facts = read_rows(file("\n".join(texts).encode()))
    assert y.tolist() == texts
    assert facts.classes == {text: texts.count(text) for text in sorted(set(texts))}


def test_without_a_scan_the_first_label_decides(kernel, file):
    known = {"n_features": 1, "index_base": 1}
    assert together(open_rows(file(b"spam 1:1\n1 1:1\n"), **known).in_blocks(1))[1].tolist() == ["spam", "1"]
    path = file(b"1 1:1\nspam 1:1\n")
    with pytest.raises(FileError, match=f"{path}, line 2, column 1: the label 'spam' is no number"):
        list(open_rows(path, **known).in_blocks(1))
    assert together(open_rows(path, **known, label_type="text").in_blocks(1))[1].tolist() == ["1", "spam"]
    rows = open_rows(path, **known).in_blocks(1)
    rows.scan()
    assert together(rows)[1].tolist() == ["1", "spam"]


def test_the_type_of_labels_can_be_asked_for(kernel, file):
    path = file(TEXT)
    _, y, facts = read_rows(path, label_type="text")
    assert y.tolist() == ["1", "-1", "1"]
    assert (facts.label_type, facts.classes) == ("text", {"-1": 1, "1": 2})
    with pytest.raises(FileError, match="line 1, column 1: the label 'spam' is no number"):
        read_rows(file(b"spam 1:1\n"), label_type="number")


def test_rows_may_have_no_labels_but_all_or_none(kernel, file):
    path = file(b"1:0.5 3:2\n2:1\n4:7\n")
    X, y, facts = read_rows(path)
    np.testing.assert_array_equal(X.toarray(), DENSE)
    assert (y, facts.classes, facts.label_type) == (None, None, None)
    assert all(y is None for _, y in open_rows(path).in_blocks(1))
    with pytest.raises(FileError, match="line 1, column 1: the row has no label, but earlier ones have"):
        read_rows([file(TEXT, "labelled"), path])


# ------------------------------------------------------------ pipes


def test_a_pipe_is_read_whole(kernel, pipe):
    X, y, facts = read_rows(pipe(TEXT))
    np.testing.assert_array_equal(X.toarray(), DENSE)
    assert (len(y), facts.index_base) == (3, 1)


def test_a_pipe_streams_with_everything_known_and_only_once(kernel, pipe):
    rows = open_rows(pipe(TEXT), n_features=4, index_base=1).in_blocks(2)
    np.testing.assert_array_equal(together(rows)[0], DENSE)
    with pytest.raises(FileError, match="standard input: has been read already: a pipe can be read only once"):
        list(rows)
    with pytest.raises(FileError, match="has been read already"):
        rows.scan()


@pytest.mark.parametrize("known", [{}, {"n_features": 4}, {"index_base": 1}])
def test_a_pipe_cannot_be_scanned_and_then_read(pipe, known):
    with pytest.raises(FileError, match="is a pipe and can be read only once: give index_base .*and n_features"):
        list(open_rows(pipe(TEXT), **known))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_rows_come_before_the_pipe_ends(tmp_path):
    """Memory is bounded: the first block is there while the writer still waits to write the rest."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    taken = threading.Event()

    def write():
        with open(path, "wb") as out:
            out.write(b"1 1:1\n" * 400_000)
            out.flush()
            taken.wait(30)
            out.write(b"2 1:1\n")

    writer = threading.Thread(target=write)
    writer.start()
    blocks = iter(open_rows(path, n_features=1, index_base=1).in_blocks(1000))
    assert next(blocks)[0].shape == (1000, 1)
    taken.set()
    assert 1000 + sum(X.shape[0] for X, _ in blocks) == 400_001
    writer.join()


# ------------------------------------------------------------ errors


MALFORMED = {
    b"1 1:1\n1 2 3:1": ("line 2, column 4", "a colon is missing"),
    b"1 1:1 1:2": ("line 1, column 7", "'1:2' is there twice"),
    b"1 3:1 2:2": ("line 1, column 7", "'2:2' is smaller"),
    b"1 4294967296:1": ("line 1, column 3", "larger than 2147483647"),
    b"1 1:nan": ("line 1, column 5", "'nan' is not finite"),
    b"1 1:1e999": ("line 1, column 5", "'1e999' is too large"),
    b"1,2 1:1": ("line 1, column 2", "several labels are not supported"),
    b"\x7fELF\x02\x01": ("line 1, column 1", "is binary, not text"),
    b"\xff\xd8\xff\xe0": ("line 1, column 1", "not UTF-8"),
    b"1 two:1": ("line 1, column 3", "'two:1' where an index is expected"),
}


@pytest.mark.parametrize("content", MALFORMED)
def test_malformed_text_names_file_line_and_column(kernel, file, content):
    path, (place, problem) = file(content), MALFORMED[content]
    for read in (read_rows, lambda path: list(open_rows(path))):
        with pytest.raises(FileError, match=f"{path}, {place}: .*{problem}") as raised:
            read(path)
    assert f"line {raised.value.line}, column {raised.value.column}" == place


def test_the_right_file_of_several_is_named(file):
    with pytest.raises(FileError, match="bad, line 1, column 3"):
        read_rows([file(TEXT, "good"), file(b"1 x", "bad")])


@pytest.mark.parametrize(
    ("extension", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_truncated_archive_names_the_place_it_ends(file, extension, pack):
    packed = pack(TEXT * 100_000)
    path = file(packed[:-1], f"half{extension}")
    with pytest.raises(FileError, match=f"{path}, line .*, column .*: the archive is truncated") as raised:
        read_rows(path)
    assert 1 < raised.value.line <= 300_001


def test_an_archive_that_a_thread_unpacks_gives_the_same_rows_and_places(file):
    text = TEXT * 100_000
    expected, y, _ = read_rows(file(text, "rows"))
    rows, half = open_rows(file(gzip.compress(text), "rows.gz")), open_rows(file(gzip.compress(text)[:-1], "half.gz"))
    with pytest.raises(FileError, match="half.gz, line .*: the archive is truncated") as alone:
        half.scan()
    rows.threads = half.threads = 2
    X, labels = zip(*rows, strict=True)
    np.testing.assert_array_equal(np.concatenate(labels), y)
    assert (sp.vstack(X) != expected).nnz == 0
    with pytest.raises(FileError) as ahead:
        half.scan()
    assert str(ahead.value) == str(alone.value)
    before = threading.active_count()
    assert next(iter(rows.in_blocks(3)))[0].shape[0] == 3  # and the rest is not wanted
    assert threading.active_count() == before


def test_a_bomb_names_the_place_it_went_off(file):
    path = file(lzma.compress(TEXT * 100_000), "bomb.xz")
    with pytest.raises(FileError, match="bomb.xz, line .*: the archive unpacks to more than 2,000,000 bytes") as raised:
        read_rows(path, limits=Limits(unpacked_bytes=2_000_000))
    assert raised.value.line > 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n"])
def test_no_rows(kernel, file, content):
    path = file(content)
    with pytest.raises(FileError, match="there are no rows in it"):
        read_rows(path)
    facts = open_rows(path).scan()
    assert (facts.n_samples, facts.n_features, facts.max_index, facts.classes) == (0, 0, None, None)
    assert list(open_rows(path)) == []


def test_a_row_of_nothing_but_a_label(file):
    X, y, facts = read_rows(file(b"1\n"))
    assert (X.shape, y.tolist(), facts.n_features) == ((1, 0), [1.0], 0)


def test_every_fault_of_the_parser_has_a_sentence():
    kinds = {kind for kind, *_ in REFUSED.values()} | {"label_not_a_number", "long_line", "many_features"}
    assert kinds == set(PROBLEMS)
