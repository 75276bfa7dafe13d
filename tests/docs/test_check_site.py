"""The checker of the site finds what is wrong with pages."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checker():
    spec = importlib.util.spec_from_file_location("check_site", ROOT / "tools" / "check_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">a</h1><a href="sub/">b</a><a href="https://elsewhere.example">c</a>'
    )
    (tmp_path / "sub" / "index.html").write_text('<a href="../index.html#top">up</a><img src="../x.png" alt="">')
    (tmp_path / "x.png").write_bytes(b"")
    return tmp_path


def problems(checker, site):
    return [problem for path in sorted(site.rglob("*.html")) for problem in checker.problems_of(path, site)]


def test_a_good_site_has_no_problems(checker, site):
    assert problems(checker, site) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<a href="missing.html">', "missing.html leads nowhere"),
        ('<a href="../outside.html">', "../outside.html leads nowhere"),
        ('<a href="sub/index.html#nothing">', "there is no such place"),
        ('<a href="#nothing">', "there is no such place"),
        ('<img src="gone.png" alt="">', "gone.png leads nowhere"),
        ('<img src="x.png">', "has no description"),
    ],
)
def test_what_is_wrong_is_found(text, problem, checker, site):
    (site / "bad.html").write_text(text)
    (found,) = problems(checker, site)
    assert problem in found


def test_names_without_a_page_are_found(checker, site):
    missing = set(checker.missing_names(site))
    assert {"isrht.ISRHTClassifier", "isrht.fwht", "isrht.files.open_rows"} <= missing
    folder = site / "reference" / "generated"
    folder.mkdir(parents=True)
    (folder / "isrht.fwht.html").write_text('<dt id="isrht.fwht">')
    checker.page.cache_clear()
    assert "isrht.fwht" not in set(checker.missing_names(site))


def test_a_folder_without_pages_is_no_site(checker, tmp_path, capsys):
    assert checker.main(tmp_path) == 1
    capsys.readouterr()
