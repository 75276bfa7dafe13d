"""Files that several commands are tried on."""

import pytest


@pytest.fixture
def data(tmp_path):
    """A file of 120 rows of two classes, which one feature tells apart."""
    from cli_data import write_file  # here, because it needs typer, without which no command is tested

    path = tmp_path / "rows.svm"
    write_file(path)
    return path
