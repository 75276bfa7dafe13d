import json

import pytest

pytest.importorskip("typer")

from cli_data import isrht

import isrht as package
from isrht import kernels


def test_it_says_which_version_and_which_kernel():
    done = isrht("info")
    assert done.exit_code == 0
    assert package.__version__ in done.stdout
    assert kernels.active() in done.stdout


def test_as_json():
    told = json.loads(isrht("info", "--json").stdout)
    assert package.__version__ in map(str, told.values())
