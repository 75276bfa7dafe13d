"""``isrht train``: its options, what it says, and what it refuses."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file
from http_server import serving

from isrht import load


def test_it_says_what_it_read_chose_and_wrote(data, tmp_path):
    write_file(tmp_path / "test.svm", seed=1)
    done = isrht("train", data, tmp_path / "m", "-r", 4, "--selection", "top", "--test", tmp_path / "test.svm")
    for text in (
        "120 rows, 10 features (indices from 1)",
        "2 classes: -1 (60 rows), 1 (60 rows)",
        "cross-validated accuracy",
        "  chosen",
        "Accuracy = ",
        "true \\ predicted",
        "seconds: read ",
        f"{tmp_path / 'm'}: ",
    ):
        assert text in done.stderr
    assert done.stdout == ""


def test_the_model_has_a_name_by_default(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert isrht("train", data, "-r", 2).exit_code == 0
    assert (tmp_path / "rows.svm.isrht").exists()


@pytest.mark.parametrize(
    ("arguments", "C"),
    [
        (["-C", "{}", "{}"], "cv"),
        (["{}", "{}", "-C"], "cv"),
        (["-C", "cv", "{}", "{}"], "cv"),
        (["-C", "-q", "{}", "{}"], "cv"),
        (["-qC", "{}", "{}"], "cv"),
        (["-C", "--", "{}", "{}"], "cv"),
        (["-C", "4", "{}", "{}"], 4.0),
        (["-C4", "{}", "{}"], 4.0),
        (["-C", "1e-3", "{}", "{}"], 1e-3),
        (["-c", "4", "{}", "{}"], 4.0),
    ],
)
def test_big_c_is_a_flag_as_in_liblinear_or_has_a_value(arguments, C, data, tmp_path):
    files = iter([data, tmp_path / "m"])
    given = [next(files) if argument == "{}" else argument for argument in arguments]
    done = isrht("train", "-r", 4, "--selection", "uniform", *given)
    assert done.exit_code == 0, done.stderr
    assert load(tmp_path / "m").C == C


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_devices_and_pipes_are_written_to(data, tmp_path):
    assert "/dev/null: written" in isrht("train", data, "/dev/null", "-r", 2, "-c", 1).stderr
    assert isrht("train", data, tmp_path / "m", "-r", 2, "-c", 1, "-j", 1).exit_code == 0
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        assert isrht("train", data, tmp_path / "pipe", "-r", 2, "-c", 1, "-j", 1).exit_code == 0
    assert read.result(10) == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 1, "no file nowhere"),
        (["rows.svm", "rows.csv"], 2, "rows.csv is there and is no model of isrht"),
        (["rows.svm", "a", "b"], 2, "which of these 3 files is the model"),
        (["rows.svm", "-c", "much"], 2, "-c must be a number or cv, got 'much'"),
        (["rows.svm", "m", "-C", "0"], 2, "C must be"),
        (["-C"], 2, "Missing argument"),
        (["-C", "cv"], 2, "Missing argument"),
        ([], 2, "Missing argument"),
        (["wide.svm", "m"], 2, "wide.svm, line 1, column 7: the index in '2147483647:1' makes more than 268,435,456"),
        (["wide.svm", "m"], 2, "--max-features"),
        (["empty.svm", "m", "--out-of-core"], 2, "there are no rows in it"),
        (["-", "m", "--out-of-core"], 2, "standard input is a pipe, which can be read only once, but --out-of-core"),
        (
            ["rows.svm", "--selection", "best"],
            2,
            "'top', 'supervised', 'boosted', got 'best'",
        ),
        (["rows.svm", "m", "--test", "nowhere"], 1, "no file nowhere"),
        (["rows.svm", "--scale", "log"], 2, "scale must be one of"),
        (["rows.svm", "--index-base", "2"], 2, "--index-base must be auto, 0 or 1"),
        (["rows.svm", "--format", "xls"], 2, "unknown format 'xls'"),
        (["rows.svm", "nowhere/m"], 2, "its folder is not there"),
        (["rows.csv", "m"], 2, "there are no labels to learn from"),
        (["rows.csv", "m", "--label", "class"], 2, "there is no column 'class'"),
        (["bad.svm", "m"], 2, "bad.svm, line 2, column"),
        (["one.svm", "m"], 2, "class"),
        (["empty.svm", "m"], 2, "there are no rows in it"),
        (["-"], 2, "gives the model no name"),
        (["rows.svm", "-v", "3", "--out-of-core"], 2, "leave out --out-of-core"),
        (["rows.svm", "--out-of-core", "--local-cluster", "2"], 2, "choose one of"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(arguments, code, message, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "rows.csv")
    (tmp_path / "bad.svm").write_text("1 1:1\n-1 2=3\n")
    (tmp_path / "one.svm").write_text("1 1:1\n1 2:3\n" * 9)
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "wide.svm").write_text("1 1:1 2147483647:1\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = isrht("train", *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.fixture
def site(data):
    """The URL of a server that has the file, and what it serves."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    with serving({"rows.svm": data.read_bytes()}) as (url, site):
        yield url, site


@pytest.mark.parametrize("out_of_core", [[], ["--out-of-core"]])
def test_rows_by_url_make_the_model_of_the_file(out_of_core, site, data, tmp_path):
    url, _ = site
    for source, model in ((data, "file"), (f"{url}/rows.svm?signature=hunter2", "url")):
        done = isrht("train", source, tmp_path / model, "-r", 4, "-c", 1, "--seed", 0, *out_of_core)
        assert done.exit_code == 0, done.stderr
        assert "hunter2" not in done.stderr
    there, here = load(tmp_path / "url"), load(tmp_path / "file")
    assert (there.coef_ == here.coef_).all()
    assert b"hunter2" not in (tmp_path / "url").read_bytes()
    predicted = [isrht("predict", source, tmp_path / "url", "-q").stdout for source in (data, f"{url}/rows.svm")]
    assert predicted[0] == predicted[1] != ""


def test_urls_that_cannot_be_read_are_said_in_a_line(site, tmp_path, monkeypatch):
    from isrht.files import _trouble

    monkeypatch.setattr(_trouble, "PAUSE", 0.001)
    url, server = site
    secret = url.replace("://", "://me:hunter2@")
    for source, code, words in (
        (f"{secret}/none.svm?key=hunter2", 1, f"there is no file {url}/none.svm"),
        ("nothing://x/rows.svm", 2, "nothing://x/rows.svm: Protocol not known: nothing"),
        ("http://127.0.0.1:9/rows.svm", 1, "http://127.0.0.1:9/rows.svm cannot be reached"),
    ):
        done = isrht("train", source, tmp_path / "m", "-r", 4)
        assert done.exit_code == code
        assert words in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
        assert "hunter2" not in done.stderr
    server.breaks = 10**6
    done = isrht("train", f"{url}/rows.svm", tmp_path / "m", "-r", 4)
    assert done.exit_code == 1
    assert "the connection broke at byte 0, 4 times" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "m").exists()
