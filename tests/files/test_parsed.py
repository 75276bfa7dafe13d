"""LIBSVM text in pieces that threads share: the rows and the errors of one parser of all of the text."""

import itertools
import os
import threading

import numpy as np
import pytest
from libsvm_parsers import REFUSED
from numpy.testing import assert_array_equal

from isrht import RowSource
from isrht.files import _libsvm, _parsed
from isrht.files._parsed import pieces
from isrht.files.errors import FileError
from isrht.files.opening import open_rows

TEXT = b"# first\n1 1:0.5 3:2\n\n-1 2:1\r\n1 4:7 # last\n" * 40
LABELS = {"numbers": b"", "words": b"spam 2:1\n", "one without": b"2:1\n", "blank": b" \n\t\n", "index 0": b"1 0:5\n"}


@pytest.fixture
def small(monkeypatch):
    """Let the text be read and cut every few bytes."""
    monkeypatch.setattr(_libsvm, "CHUNK_BYTES", 16)
    monkeypatch.setattr(_parsed, "PIECE_BYTES", 32)


def outcome(paths, threads, **options):
    """Return the rows that are read, and what is known of them, or the error."""
    rows = open_rows(paths, **options)
    rows.threads = threads
    try:
        blocks = [(X.toarray(), y) for X, y in rows]
    except FileError as error:
        return str(error)
    X, y = (np.concatenate(parts).tolist() for parts in zip(*blocks, strict=True))
    return X, y, rows.facts, rows.n_unseen


def assert_same_outcome(paths, **options):
    alone = outcome(paths, 1, **options)
    assert outcome(paths, 2, **options) == alone
    assert outcome(paths, 3, **options) == alone
    return alone


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
@pytest.mark.parametrize("at_least", [1, 10, 100])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_pieces_are_the_text_cut_where_lines_end(size, at_least, end, monkeypatch):
    monkeypatch.setattr(_parsed, "PIECE_BYTES", at_least)
    text = TEXT.replace(b"\r", b"").replace(b"\n", end) + b"1 1:1"
    found = list(pieces([text[start : start + size] for start in range(0, len(text), size)], 10**6))
    assert b"".join([found[0], *(piece[1:] for piece in found[1:])]) == text
    assert all(piece[-1:] in b"\r\n" for piece in found[:-1])
    assert all(piece[:1] == b"\n" for piece in found[1:])
    assert len(found) > 1 or size == 10_000


def test_a_line_without_end_is_not_gathered_for_ever():
    made = []

    def chunks():
        for _ in range(100):
            made.append(1)
            yield b"1" * 2**20

    for piece in pieces(chunks(), 2**22):
        assert len(piece) <= 11 * 2**20
        break
    assert len(made) <= 11


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("more", LABELS)
@pytest.mark.parametrize("options", [{}, {"index_base": 1}, {"label_type": "text"}, {"n_features": 3}], ids=str)
def test_threads_read_what_one_reads(more, options, tmp_path):
    (tmp_path / "a.svm").write_bytes(TEXT + LABELS[more] + TEXT)
    (tmp_path / "b.svm").write_bytes(TEXT)
    told = assert_same_outcome([tmp_path / "a.svm", tmp_path / "b.svm"], **options)
    assert isinstance(told, str) == (more == "one without" or (more == "index 0" and "index_base" in options))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("faulty", REFUSED, ids=repr)
def test_threads_refuse_what_one_refuses(faulty, tmp_path):
    path = tmp_path / "a.svm"
    path.write_bytes(TEXT + faulty + b"\n" + TEXT)
    assert_same_outcome(path)
    assert_same_outcome(path, index_base=1, label_type="number")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "text", [b"", b"\n", b"# nothing\n" * 30, b"\xef\xbb\xbf" + TEXT, TEXT + b"\xef\xbb\xbf1 1:1\n" + TEXT]
)
def test_texts_without_rows_and_marks_of_the_byte_order(text, tmp_path):
    path = tmp_path / "a.svm"
    path.write_bytes(text + b"1 1:1\n" * (b"1" not in text))
    assert_same_outcome(path)


@pytest.mark.usefixtures("small")
def test_files_with_and_without_labels(tmp_path):
    (tmp_path / "a.svm").write_bytes(TEXT)
    (tmp_path / "b.svm").write_bytes(b"1:1 2:1\n" * 20)
    told = assert_same_outcome([tmp_path / "a.svm", tmp_path / "b.svm"])
    assert "b.svm, line 1, column 1: the row has no label, but earlier ones have" in told


@pytest.mark.usefixtures("small")
def test_threads_parse_at_the_same_time(tmp_path, monkeypatch):
    path, both, parse = tmp_path / "a.svm", threading.Barrier(2), _parsed.parsed
    path.write_bytes(TEXT.replace(b"# first", b"1 4:1"))
    met, calls = [], itertools.count()

    def parsed(new_parser, text):
        if next(calls) < 2:
            met.append(both.wait(timeout=60))
        return parse(new_parser, text)

    monkeypatch.setattr(_libsvm, "parsed", parsed)
    source = RowSource(path)
    source.survey(2)
    assert sorted(met) == [0, 1]
    assert source.shape == (160, 4)


@pytest.mark.usefixtures("small")
def test_what_cannot_be_shared_is_read_by_one(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_bytes(TEXT)
    monkeypatch.setattr(_libsvm, "parsed", None)
    for options in ({"index_base": 1, "n_features": 4}, {}):
        rows = open_rows(path, **options)
        rows.threads = 2
        assert sum(X.shape[0] for X, _ in (rows.in_blocks(7) if not options else rows)) == 120
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[TEXT])
        writer.start()
        rows = open_rows(tmp_path / "pipe", index_base=1, n_features=4, label_type="number")
        rows.threads = 2
        assert sum(X.shape[0] for X, _ in rows) == 120
        writer.join()


@pytest.mark.usefixtures("small")
def test_a_fault_that_is_gone_when_it_is_looked_for(tmp_path, monkeypatch):
    path, parse = tmp_path / "a.svm", _parsed.parsed
    path.write_bytes(TEXT + b"1 1:x\n")

    def parsed(new_parser, text):
        found = parse(new_parser, text)
        if found[1] is None:
            path.write_bytes(TEXT)
        return found

    monkeypatch.setattr(_libsvm, "parsed", parsed)
    rows = open_rows(path)
    rows.threads = 2
    with pytest.raises(FileError, match="it has changed while it was read"):
        rows.scan()


def test_large_pieces_are_blocks_of_rows(tmp_path, rng):
    path = tmp_path / "a.svm"
    path.write_bytes(b"".join(b"%d 1:%.17g 2:%.17g\n" % (i % 3, *rng.random(2)) for i in range(150_000)))
    alone, shared = RowSource(path), RowSource(path)
    shared.survey(2)
    assert_array_equal(shared.labels, alone.labels)
    (X,), (expected,) = shared.read(150_000), alone.read(150_000)
    assert_array_equal(X.toarray(), expected.toarray())
