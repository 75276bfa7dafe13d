"""How commands end: what they say of a full disk, of limits, of folders that may not be written to."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample_records import write_journal

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht import LinearSVM, save
from isrht.cli._messages import errors_in_words
from isrht.support.file_errors import STANDARD_OUTPUT

HELPERS = Path(__file__).parents[1] / "helpers"
WRITING = {
    "predict": ("predict", "rows.svm", "model", "{}"),
    "transform": ("transform", "rows.svm", "projection", "{}"),
    "train": ("train", "rows.svm", "{}", "-r", "2", "-c", "1"),
    "export": ("export", "model", "--to", "liblinear", "--out", "{}"),
}
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = write_file(tmp_path / "rows.svm")
    save(LinearSVM().fit(X, y), tmp_path / "model", about={"index_base": 1})
    assert isrht("train", "rows.svm", "projection", "-r", 2, "-c", 1, "-q").exit_code == 0
    return tmp_path


def written(command, target):
    return [argument.format(target) for argument in WRITING[command]]


@needs_full
@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_is_said_with_the_file(folder, command):
    done = isrht(*written(command, "/dev/full"))
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, f"isrht {command}: /dev/full: No space left on device")


@needs_full
@pytest.mark.parametrize(
    "command", [("predict", "rows.svm", "model", "-q"), ("inspect", "model"), ("info",), ("--help",)]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_said(folder, command, unbuffered):
    """What waits in a buffer would be written once more, and complained of, when Python ends."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "isrht", *command],
            stdout=full, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1
    name = "isrht" if command[0] == "--help" else f"isrht {command[0]}"
    assert done.stderr == f"{name}: standard output: No space left on device\n"


LIMITED = """
import json, resource, sys
from cli_data import isrht
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
for command in json.loads(sys.argv[2]):
    done = isrht(*command)
    print(json.dumps([done.exit_code, done.stderr]))
"""


def test_a_limit_to_the_size_of_files_is_said_with_the_file(folder):
    pytest.importorskip("resource")
    journal = write_journal(folder / "old.jsonl", sets=("blobs",)).path
    targets = {"predict": "out", "transform": "out.csv", "train": "out.isrht", "export": "out.liblinear"}
    commands = {f"isrht {name}: {target}": written(name, target) for name, target in targets.items()}
    commands["isrht report: report/index.html"] = ["report", journal.name, "--out", "report"]
    small = ["--method", "SRHT", "-n", "1", "-q", "--jobs", "1"]
    commands["isrht reproduce: again/journal.jsonl"] = ["reproduce", "--sets", "blobs", *small, "-o", "again"]
    commands["isrht compare: compared/journal.jsonl"] = ["compare", "rows.svm", "-r", "2", *small, "-o", "compared"]
    # 1,000 bytes are enough for the beginning of a journal, which the parent writes, but not for the record of a run,
    # which a worker writes.
    for limit, wanted in ((200, slice(0, 6)), (1000, slice(6, 7))):
        asked = list(commands.items())[wanted]
        folders = [str(HELPERS), *filter(None, [os.environ.get("PYTHONPATH")])]
        # Counts of lines that have run are files, too, which others write as well: not these processes.
        uncounted = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
        environment = uncounted | {"PYTHONPATH": os.pathsep.join(folders), "GCOV_PREFIX": str(folder / "counts")}
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, str(limit), json.dumps([command for _, command in asked])],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip
        results = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(code, said.splitlines()[-1]) for code, said in results] == [
            (1, f"{place}: File too large") for place, _ in asked
        ], done.stderr
        assert "Traceback" not in done.stderr
    assert [path.name for path in folder.rglob(".isrht*")] == []
    assert not (folder / "out").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows forbids no writing into folders by modes")
@pytest.mark.parametrize("command", WRITING)
def test_a_folder_that_may_not_be_written_to(folder, command):
    """The root user may write everywhere, so if the tests run as root, the command runs without that right."""
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    prefix = []
    if os.geteuid() == 0:
        os.chown(closed, 65534, 65534)
        prefix = [shutil.which("setpriv"), "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
        if prefix[0] is None or subprocess.run([*prefix, "true"]).returncode:
            pytest.skip("nothing to give up rights with")
    arguments = [*written(command, "closed/out"), *(["-q"] if command != "export" else [])]
    done = subprocess.run([*prefix, sys.executable, "-m", "isrht", *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"isrht {command}: closed/out")
    assert f"a new file cannot be made in {closed}" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (FileNotFoundError(2, "No such file", "x"), 1, "isrht fly: x: No such file\n"),
        (OSError("there is no folder y"), 1, "isrht fly: there is no folder y\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe", STANDARD_OUTPUT), 1, ""),  # nobody reads on, so nobody is told
        (MemoryError(), 1, "isrht fly: there is not enough memory\n"),
        (ModuleNotFoundError("z is missing"), 1, "isrht fly: z is missing\n"),
        (ValueError("w is wrong"), 2, "isrht fly: w is wrong\n"),
        (TypeError("w is no thing"), 2, "isrht fly: w is no thing\n"),
        (KeyboardInterrupt(), 130, "\nisrht fly: stopped\n"),
    ],
)
def test_errors_in_words(error, code, said, capsys):
    import typer

    with pytest.raises(typer.Exit) as raised, errors_in_words("fly"):
        raise error
    assert raised.value.exit_code == code
    assert capsys.readouterr().err == said
