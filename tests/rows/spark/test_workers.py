"""The protocol of workers in a stand-in for Spark: calls, their errors, and what is forgotten."""

import gc
import importlib
import sys
import zipfile

import pytest
from spark_here import Partitions

from isrht.rows.spark._store import Store
from isrht.rows.spark.workers import SparkWorkers


def workers(count=3, size=1):
    """Return workers that have so many blocks, each with some bytes."""
    blocks = Partitions(count, lambda: [[(number, bytes(size))] for number in range(count)])
    return SparkWorkers(blocks)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """The folders of an executor, on two disks."""
    found = [tmp_path / "first", tmp_path / "second"]
    monkeypatch.setenv("SPARK_LOCAL_DIRS", ",".join(map(str, found)))
    return found


def files(folders):
    return sorted(path.name for folder in folders for path in folder.rglob("*") if path.is_file())


def test_every_partition_is_a_piece():
    assert workers().pieces == [[0], [1], [2]]


def test_many_small_partitions_are_as_many_pieces_as_cores(folders):
    assert workers(6).pieces == [[0, 4], [1, 5], [2], [3]]
    assert workers(6, 2**22).pieces == [[number] for number in range(6)]


def test_functions_are_given_what_is_kept_in_order():
    some = workers()
    first, second = some.spread("abc"), some.keep("letters", str.upper, some.spread("xyz"))
    assert some.gather("letters", lambda *given: given, first, None, second, first) == [
        ("a", None, "X", "a"),
        ("b", None, "Y", "b"),
        ("c", None, "Z", "c"),
    ]


def test_functions_are_as_they_were_when_they_were_given():
    some, added = workers(), [1]
    kept = some.keep("numbers", lambda number: number + added[0], some.spread([1, 2, 3]))
    added[0] = 100
    assert some.gather("numbers", abs, kept) == [2, 3, 4]


def test_what_is_kept_is_made_once_by_the_first_job_that_needs_it(tmp_path):
    some = workers()
    calls = tmp_path / "calls"

    def noted(letter):
        with open(calls, "a") as file:
            file.write(letter)
        return letter

    kept = some.keep("letters", noted, some.spread("abc"))
    assert not calls.exists()
    for _ in range(2):
        assert some.gather("letters", str.upper, kept) == ["A", "B", "C"]
    assert calls.read_text() == "abc"


def test_what_nobody_refers_to_is_forgotten_by_the_next_call(folders):
    some = workers()
    kept = some.keep("letters", str.upper, some.spread("abc"))
    some.gather("letters", len, kept)
    assert files(folders) == sorted([*("0-0", "0-1", "0-2"), *("1-0", "1-1", "1-2"), *("2-0", "2-1", "2-2")])
    del kept
    gc.collect()
    some.gather("rows", len, some.rows)
    assert files(folders) == ["0-0", "0-1", "0-2"]


def test_rows_that_nobody_refers_to_are_removed_by_the_next_job_of_others(folders):
    some, others = workers(), workers()
    some.gather("rows", len, some.rows)
    before = Partitions.persisted
    del some
    gc.collect()
    others.gather("rows", len, others.rows)
    assert files(folders) == ["0-0", "0-1", "0-2"]
    assert Partitions.persisted == before - 1


@pytest.mark.parametrize("lost", ["0-*", "1-*", "*-1", "*"])
def test_what_an_executor_lost_is_made_again(folders, lost):
    some = workers()
    letters = some.spread("abc")
    kept = some.keep("letters", lambda blocks, letter: (blocks[0][0], letter), some.rows, letters)
    longer = some.keep("letters", lambda pair: (*pair, pair), kept)
    expected = [(0, "a", (0, "a")), (1, "b", (1, "b")), (2, "c", (2, "c"))]
    assert some.gather("letters", tuple, longer) == expected
    for path in (path for folder in folders for path in folder.rglob(lost) if path.is_file()):
        path.unlink()
    assert some.gather("letters", lambda *given: given[0], longer, kept, some.rows) == expected


def test_executors_that_lose_everything_at_once_end_a_fit(monkeypatch):
    monkeypatch.setattr(Store, "put", lambda self, number, value: 0)
    some = workers()
    with pytest.raises(ConnectionError, match="lose what they keep"):
        some.gather("rows", len, some.rows)


class ExecutorError(Exception):
    """As PySpark raises it: with the traceback of the executor."""


def failing(message):
    def fail(value):
        raise ExecutorError(f"An exception was thrown\nTraceback (most recent call last):\n  File ...\n{message}\n\n")

    return fail


@pytest.mark.parametrize("kind", [ValueError, TypeError, OSError, MemoryError])
def test_an_error_that_names_its_block_is_raised_alone(kind):
    some = workers()
    with pytest.raises(kind, match="^block 2: no number$"):
        some.gather("rows", failing(f"{kind.__name__}: block 2: no number"), some.spread("abc"))
    kept = some.keep("rows", failing(f"{kind.__name__}: block 2: no number"), some.spread("abc"))
    with pytest.raises(kind, match="^block 2: no number$"):
        some.gather("rows", len, kept)


def test_other_errors_are_raised_as_they_are():
    some = workers()
    with pytest.raises(ExecutorError, match="KeyError: 'a'"):
        some.gather("rows", failing("KeyError: 'a'"), some.spread("abc"))


def test_executors_do_not_read_the_lists_of_archives_before_every_task(tmp_path, monkeypatch):
    archive = tmp_path / "modules.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("module_in_an_archive.py", "found = True")
    monkeypatch.syspath_prepend(str(archive))
    import module_in_an_archive

    assert str(archive) in sys.path_importer_cache
    some = workers()
    some.gather("letters", len, some.spread("abc"))
    assert str(archive) not in sys.path_importer_cache
    del sys.modules["module_in_an_archive"]
    assert importlib.import_module("module_in_an_archive").found
    assert module_in_an_archive.found
