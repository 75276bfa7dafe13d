import pickle

import pytest

from isrht.files.errors import FileError, library, other_columns


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("a.svm", "is wrong", 3, 5), "a.svm, line 3, column 5: is wrong"),
        (("a.csv", "is wrong", 3), "a.csv, line 3: is wrong"),
        (("-", "is wrong"), "standard input: is wrong"),
    ],
)
def test_the_place_is_said_as_far_as_it_is_known(arguments, text):
    error = FileError(*arguments)
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == text
    assert isinstance(error, ValueError)


def test_a_missing_library_names_the_extra():
    with pytest.raises(ModuleNotFoundError, match=r"reading dreams needs no_such, .* pip install 'isrht\[files\]'"):
        library("no_such.thing", "reading dreams")


def test_columns_that_differ_are_told():
    start = "2.csv: its columns are not those of 1.csv: "
    for found, problem in (("ab", "it has 'b'"), ("c", "it lacks 'a' and has 'c'"), ((), "it lacks 'a'")):
        assert str(other_columns("2.csv", found, "1.csv", "a")) == start + problem
    assert str(other_columns("2.csv", "ba", "-", "ab")).endswith("those of standard input: their order is another")
