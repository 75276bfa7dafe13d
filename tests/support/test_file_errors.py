"""Errors of the operating system, which name the file that the user knows."""

import errno
from pathlib import Path

import pytest

from isrht.support.file_errors import errors_that_name


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
