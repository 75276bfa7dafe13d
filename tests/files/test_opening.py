import numpy as np
import pytest

from isrht.files.errors import FileError
from isrht.files.opening import find, format_of, open_rows, read_rows

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
    with pytest.raises(IsADirectoryError):
        read_rows(folder)


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
        ({"block_rows": -1}, "block_rows must be"),
        ({"index_base": 2}, "index_base must be 'auto', 0 or 1, got 2"),
        ({"label": 0}, "label is for tables"),
        ({"label_type": "int"}, "label_type must be 'number', 'text' or None, got 'int'"),
        ({"format": "npy", "index_base": 1}, "index_base is for LIBSVM text, not for npy"),
    ],
)
def test_wrong_options(folder, options, problem):
    with pytest.raises(ValueError, match=problem):
        open_rows("plain", **options)


@pytest.mark.parametrize("format", ["npy", "npz", "parquet"])
def test_what_is_not_text_needs_a_plain_file(folder, format):
    with pytest.raises(FileError, match=f"standard input: {format} cannot be read from a pipe"):
        open_rows("-", format=format)
    (folder / f"x.{format}.gz").write_bytes(b"x")
    with pytest.raises(FileError, match=f"only text may be packed, not {format}"):
        open_rows(f"x.{format}.gz")


def test_numpy_integers_are_whole_numbers(folder):
    assert read_rows("plain", n_features=np.int64(3))[0].shape == (1, 3)
