"""The protocol of workers in a stand-in for Spark: calls, their errors, and what is forgotten."""

import gc
import importlib
import sys
import zipfile

import pytest
from spark_here import Context, Partitions

from isrht.rows.spark.workers import SparkWorkers


def workers():
    return SparkWorkers(Context(), 3)


def test_every_partition_is_a_piece():
    assert workers().pieces == [[0], [1], [2]]


def test_functions_are_given_what_is_kept_in_order():
    some = workers()
    first, second = some.spread("abc"), some.keep("letters", str.upper, some.spread("xyz"))
    assert some.gather("letters", lambda *given: given, first, None, second, first) == [
        ("a", None, "X", "a"),
        ("b", None, "Y", "b"),
        ("c", None, "Z", "c"),
    ]


def test_what_nobody_refers_to_is_forgotten_by_the_next_call():
    before, some = Partitions.persisted, workers()
    kept = some.keep("letters", str.upper, some.spread("abc"))
    assert Partitions.persisted == before + 1
    del kept
    gc.collect()
    some.gather("letters", len, some.spread("abc"))
    assert Partitions.persisted == before


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
    with pytest.raises(kind, match="^block 2: no number$"):
        some.keep("rows", failing(f"{kind.__name__}: block 2: no number"), some.spread("abc"))


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
