"""The journal survives killed writers, torn lines, changed bytes and several writers at once."""

import json
import lzma
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isrht.experiments.journal import Journal, decode, encode

WRITER = """
import sys
from isrht.experiments.journal import Journal
journal = Journal(sys.argv[1])
for number in range(int(sys.argv[3])):
    journal.append({"key": f"{sys.argv[2]}-{number}", "padding": "x" * 3000})
"""


def start_writer(path, name, count):
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)])


def test_records_come_back_in_order(tmp_path):
    journal = Journal(tmp_path / "new" / "journal.jsonl")
    assert journal.read().records == []
    records = [{"key": str(k), "accuracy": k / 3, "text": "r² ≤ 1\nline"} for k in range(3)]
    for record in records:
        journal.append(record)
    assert journal.read().records == records
    assert journal.read().damaged == []
    assert all("checksum" in json.loads(line) for line in journal.path.read_text().splitlines())


def test_equal_keys_count_once(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.append({"key": "a", "n": 1})
    journal.append({"key": "a", "n": 2})
    assert journal.read().records == [{"key": "a", "n": 1}]


@given(cut=st.integers(0, 200))
@settings(max_examples=30, deadline=None)
def test_a_line_torn_anywhere_loses_only_itself(cut, tmp_path_factory):
    journal = Journal(tmp_path_factory.mktemp("torn") / "journal")
    journal.append({"key": "first"})
    torn = encode({"key": "torn", "accuracy": 0.5})
    torn = torn[: min(cut, len(torn) - 2)]
    with open(journal.path, "ab") as file:
        file.write(torn)
    assert [record["key"] for record in journal.read().records] == ["first"]
    journal.append({"key": "after"})
    contents = journal.read()
    assert [record["key"] for record in contents.records] == ["first", "after"]
    assert contents.damaged == ([2] if torn else [])


def test_a_changed_byte_is_noticed(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.append({"key": "a", "accuracy": 0.91})
    journal.append({"key": "b", "accuracy": 0.92})
    journal.path.write_bytes(journal.path.read_bytes().replace(b"0.91", b"0.99"))
    assert [record["key"] for record in journal.read().records] == ["b"]
    assert journal.read().damaged == [1]


@pytest.mark.parametrize("line", [b"", b"null", b"[]", b"\xff\xfe", b'{"record": {}}', b'{"checksum": 1, "record": 2}'])
def test_other_lines_are_not_records(line):
    assert decode(line) is None


def test_a_compressed_journal_is_read_and_not_written_to(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl.xz")
    journal.path.write_bytes(lzma.compress(encode({"key": "a"}) + encode({"key": "b"})))
    assert [record["key"] for record in journal.read().records] == ["a", "b"]
    with pytest.raises(ValueError, match="unpack it first"):
        journal.append({"key": "c"})


def test_not_a_number_is_refused_when_it_is_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        Journal(tmp_path / "journal").append({"accuracy": float("nan")})


def test_processes_on_one_journal_keep_every_record(tmp_path):
    path = tmp_path / "journal"
    writers = [start_writer(path, name, 40) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    contents = Journal(path).read()
    assert contents.damaged == []
    assert {record["key"] for record in contents.records} == {f"{name}-{k}" for name in "abc" for k in range(40)}


def test_sigkill_at_any_moment_leaves_a_journal_to_go_on_with(tmp_path):
    path = tmp_path / "journal"
    for attempt in range(3):
        writer = start_writer(path, f"w{attempt}", 10**6)
        grown = time.monotonic() + 20
        size = path.stat().st_size if path.exists() else 0
        while time.monotonic() < grown and (not path.exists() or path.stat().st_size < size + 20_000):
            time.sleep(0.005)
        writer.kill()
        writer.wait()
    before = Journal(path).read()
    assert len(before.damaged) <= 3
    for attempt in range(3):
        numbers = [
            int(record["key"].split("-")[1]) for record in before.records if record["key"].startswith(f"w{attempt}-")
        ]
        assert numbers == list(range(len(numbers)))
    Journal(path).append({"key": "after"})
    assert Journal(path).read().records[-1] == {"key": "after"}
