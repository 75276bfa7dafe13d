"""Which names of folders are columns, whether folders, patterns, files or URLs are asked for."""

import pickle

import pytest

from isrht.files.errors import FileError
from isrht.files.folders import (
    PathInFolder,
    below_what_was_asked,
    fixed_part,
    folders_of,
    in_folders,
    named_by_folders,
    names_of,
)
from isrht.files.opening import find, open_rows, read_rows
from isrht.files.remote import RemoteFile
from isrht.files.writing import write_rows

PARTS = ("run=3/data/year=2023/kind=1/a.parquet", "run=3/data/year=2024/kind=1/b.parquet")
ALL = [["year=2023", "kind=1"], ["year=2024", "kind=1"]]
ASKED = [
    ("run=3", [["data", *names] for names in ALL]),
    ("run=3/data", ALL),
    ("run=3/data/", ALL),
    ("run=3/data/year=2024", [["kind=1"]]),
    ("run=3/data/*/kind=1/?.parquet", ALL),
    ("run=3/data/year=*/*/*.parquet", ALL),
    ("run=3/data/year=2024/*/*.parquet", [["kind=1"]]),
    ("run=3/data/year=2024/kind=1/*.parquet", [[]]),
    ("run=3/data/year=202[4]/kind=1/b.parquet", [["year=2024", "kind=1"]]),
    (PARTS[0], [[]]),
    (PARTS, ALL),
    (("run=3/data/year=2023", PARTS[1]), ALL),
]


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    """A folder with two files of Parquet, in which this process is."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    for part in PARTS:
        (tmp_path / part).parent.mkdir(parents=True)
        write_rows(tmp_path / part, rng.standard_normal((4, 2)))
    return tmp_path


@pytest.fixture
def memory(here):
    """The URL of the same files in fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for part in PARTS:
        system.pipe(f"/lake=9/{part}", (here / part).read_bytes())
    yield "memory://lake=9"
    system.rm("/lake=9", recursive=True)


def placed(asked, root):
    return f"{root}/{asked}" if isinstance(asked, str) else [f"{root}/{one}" for one in asked]


@pytest.mark.parametrize(("asked", "folders"), ASKED)
def test_only_folders_below_what_was_asked_for_count(asked, folders, here):
    for paths in (asked, placed(asked, here / "."), placed(asked, here.as_uri())):
        assert [list(folders_of(path)) for path in find(paths)] == folders, paths


@pytest.mark.parametrize(("asked", "folders"), ASKED)
def test_so_it_is_at_urls(asked, folders, memory):
    assert [list(folders_of(path)) for path in find(placed(asked, memory))] == folders


def test_columns_of_rows_are_those_below(here, memory):
    for root in (here, memory):
        for asked, names in (("run=3/data", ["x1", "x2", "year", "kind"]), (PARTS[0], ["x1", "x2"])):
            rows = open_rows(placed(asked, root))
            X = next(iter(rows))[0]
            assert rows.feature_names == names
            assert X.shape == (4, len(names))
            assert X[0, 2:].tolist() == [2023, 1][: len(names) - 2]
    with pytest.raises(FileError, match="there is no column 'run'"):
        read_rows(here / "run=3" / "data", label="run")


def test_a_folder_is_read_as_pyarrow_and_pandas_read_it(here):
    pandas, dataset = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.dataset")
    for asked in ("run=3", "run=3/data", "run=3/data/year=2024"):
        rows = open_rows(asked)
        next(iter(rows))
        assert rows.feature_names == dataset.dataset(asked, partitioning="hive").schema.names
        assert rows.feature_names == list(pandas.read_parquet(asked))
    rows = open_rows(PARTS[0])
    next(iter(rows))
    assert rows.feature_names == list(pandas.read_parquet(PARTS[0]))


def test_paths_keep_their_folders_in_another_process(memory):
    for path in (PathInFolder("a=1/rows.csv", ["a=1"]), RemoteFile("memory://a=1/rows.csv", ["a=1"])):
        again = pickle.loads(pickle.dumps(path))
        assert (str(again), folders_of(again)) == (str(path), ("a=1",))
    (found,) = find(PathInFolder(f"{memory}/{PARTS[0]}", ["year=2023"]))
    assert folders_of(found) == ("year=2023",)


def test_files_that_have_no_place_do_not_count():
    found = [(None, ["-"]), ("rows", ["rows/day=1/a.csv"]), (None, [PathInFolder("b=2/b.csv", ["b=2"])])]
    paths = below_what_was_asked(found)
    assert paths == ["-", "rows/day=1/a.csv", "b=2/b.csv"]
    assert list(map(folders_of, paths)) == [(), ("day=1",), ("b=2",)]
    assert below_what_was_asked([(None, ["-"])]) == ["-"]


def test_names_become_columns():
    assert named_by_folders("year=2024/rows.csv") == {}
    assert named_by_folders(PathInFolder("rows.csv", ["data", "year=2024", "=1", "kind=a%3Db"])) == {
        "year": "2024",
        "kind": "a=b",
    }
    assert folders_of(in_folders("rows.csv", [])) == ()


def test_the_fixed_part_of_a_pattern_ends_before_its_first_sign():
    assert fixed_part("*.csv") == ""
    assert fixed_part("/rows/day=1/?/x.csv") == "/rows/day=1/"
    assert fixed_part("C:\\rows\\**\\x.csv") == "C:\\rows\\"
    assert names_of("C:\\rows\\x.csv") == ["C:", "rows", "x.csv"]
    assert names_of("./rows//x.csv") == ["rows", "x.csv"]
