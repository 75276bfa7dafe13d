import os
import subprocess
import sys

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


def test_other_commands_say_what_to_install():
    done = run(WITHOUT_TYPER, "reproduce")
    assert done.returncode == 2
    assert "pip install 'isrht[cli]'" in done.stderr


def test_info_as_json():
    done = subprocess.run([sys.executable, "-m", "isrht", "info", "--json"], capture_output=True, text=True)
    assert done.returncode == 0
    assert '"numpy": "' in done.stdout
