"""Errors of the operating system, which name the file that the user knows."""

import errno
from pathlib import Path

import pytest

from isrht.support import file_errors
from isrht.support.file_errors import STANDARD_OUTPUT, errors_that_name, is_of_closed_pipe


def test_an_error_names_the_path_and_says_more():
    with pytest.raises(OSError, match="No space left on device") as told, errors_that_name(Path("model.isrht"), " (x)"):
        raise OSError(errno.ENOSPC, "No space left on device", ".isrht-123.tmp")
    assert told.value.errno == errno.ENOSPC
    assert told.value.strerror == "No space left on device (x)"
    assert told.value.filename == "model.isrht"
    assert told.value.__cause__.filename == ".isrht-123.tmp"


def test_an_error_keeps_its_class():
    with pytest.raises(PermissionError) as told, errors_that_name("rows.svm"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert told.value.filename == "rows.svm"


@pytest.mark.parametrize("error", [OSError("a library has its own words"), ValueError("no error of the system")])
def test_other_errors_pass_as_they_are(error):
    with pytest.raises(type(error)) as told, errors_that_name("rows.svm"):
        raise error
    assert told.value is error


def test_a_closed_pipe_is_known_on_every_system(monkeypatch):
    """Windows says "Invalid argument" where others say "Broken pipe"."""
    broken, invalid = BrokenPipeError(errno.EPIPE, "Broken pipe"), OSError(errno.EINVAL, "Invalid argument")
    named = OSError(errno.EINVAL, "Invalid argument", STANDARD_OUTPUT)
    of_a_file = OSError(errno.EINVAL, "Invalid argument", "rows?.svm")
    for windows, closed in ((False, [broken]), (True, [broken, invalid, named])):
        monkeypatch.setattr(file_errors, "WINDOWS", windows)
        assert [error for error in (broken, invalid, named, of_a_file) if is_of_closed_pipe(error)] == closed
