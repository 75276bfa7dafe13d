import os
import signal
import subprocess
import sys
import threading
import time

import pytest

WITHOUT_TYPER = """
import sys
sys.modules["typer"] = None  # importing it fails, as if it were not installed
from isrht.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def run(script, *arguments):
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)


def test_info_works_without_the_cli_extra():
    done = run(WITHOUT_TYPER, "info")
    assert done.returncode == 0
    assert done.stdout.startswith("isrht ")
    assert "kernel " in done.stdout


def test_info_ends_quietly_when_nobody_reads_it():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-c", WITHOUT_TYPER, "info"]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_info_says_that_the_disk_is_full():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", WITHOUT_TYPER, "info"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "isrht: standard output: No space left on device\n")


def test_info_without_any_output():
    done = subprocess.run(f"'{sys.executable}' -m isrht info >&- 2>&-", shell=True)
    assert done.returncode == 0


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("typer")
    from cli_data import labelled_rows

    from isrht import LinearSVM, save
    from isrht.files.writing import write_rows

    X, y = labelled_rows(0, labels=("naïve", "日本"))
    write_rows(tmp_path / "rows.svm", X, y)
    save(LinearSVM().fit(X, y), tmp_path / "model", about={"index_base": 1})
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (("inspect", "model"), 0),
        (("predict", "rows.svm", "model"), 0),
        (("predict", "rows.svm", "model", "out"), 0),
        (("predict", "rows.svm", "naïve"), 2),
    ],
)
def test_a_terminal_of_few_letters_shows_the_others_as_escapes(model, command, wanted):
    in_c = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    variables = in_c if command[0] == "inspect" else {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "isrht", *command], capture_output=True, cwd=model.parent, env=os.environ | variables
    )
    assert done.returncode == wanted, done.stderr
    assert rb"na\xefve" in done.stdout + done.stderr
    if "out" in command:
        assert "日本\n" in (model.parent / "out").read_text("utf-8")


STOPPED = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@pytest.mark.skipif(os.name != "posix", reason="needs signals and pipes with names")
@pytest.mark.parametrize("how", STOPPED)
@pytest.mark.parametrize("command", [("predict", "pipe", "model", "out"), ("train", "pipe", "out")])
def test_signals_end_a_command_in_order(model, command, how):
    """The rows come from a pipe that never ends, so the command is at work whenever the signal comes."""
    folder, number = model.parent, getattr(signal, how)
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen(
        [sys.executable, "-m", "isrht", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # tests that run in the background, or by nohup, hand on that signals are ignored
    fed = threading.Event()
    feeder = threading.Thread(target=feed, args=(folder / "pipe", (folder / "rows.svm").read_bytes(), fed))
    feeder.start()
    try:
        assert fed.wait(60)
        time.sleep(0.2)
        process.send_signal(number)
        out, messages = process.communicate(timeout=60)
    finally:
        process.kill()  # one that goes on would read from the pipe for ever
        process.wait()
    feeder.join()
    # Python also dies by the signal itself, where it met code that it was compiling; a shell calls that 130, too.
    assert process.returncode in (STOPPED[how], -number)
    assert out == ""
    assert messages in ("", f"\nisrht {command[0]}: stopped\n")
    assert {path.name for path in folder.iterdir()} == {"pipe", "rows.svm", "model"}


def feed(pipe, rows, fed):
    try:
        with open(pipe, "wb") as out:
            while True:
                out.write(rows * 1000)
                fed.set()
    except BrokenPipeError:
        pass


def test_other_commands_say_what_to_install():
    done = run(WITHOUT_TYPER, "reproduce")
    assert done.returncode == 2
    assert "pip install 'isrht[cli]'" in done.stderr


def test_info_as_json():
    done = subprocess.run([sys.executable, "-m", "isrht", "info", "--json"], capture_output=True, text=True)
    assert done.returncode == 0
    assert '"numpy": "' in done.stdout


STOPPED_WHILE_IT_STARTS = """
import sys
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "isrht.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient())
from isrht.__main__ import main
sys.exit(main(["info"]))
"""


def test_ctrl_c_before_a_command_has_begun_ends_it_without_a_word():
    done = run(STOPPED_WHILE_IT_STARTS)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_damaged_installation_is_not_taken_for_one_without_the_cli_extra():
    pytest.importorskip("typer")
    done = run(WITHOUT_TYPER.replace('"typer"', '"isrht.cli.train"'), "info")
    assert done.returncode == 1
    assert "isrht.cli.train" in done.stderr.splitlines()[-1]
    assert "pip install" not in done.stderr


IN_A_THREAD = """
import threading
from isrht.__main__ import main
threading.Thread(target=main, args=(["info"],)).start()
"""


def test_commands_run_in_threads_which_may_not_handle_signals():
    done = run(IN_A_THREAD)
    assert "kernel " in done.stdout
    assert done.stderr == ""
