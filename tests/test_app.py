"""The command line as a user meets it: processes, exit codes, stdout and stderr."""

import subprocess
import sys

import pytest

pytest.importorskip("typer")

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "rich", "pooch")


def isrht(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "isrht", *arguments], capture_output=True, text=True, timeout=120, **options)


def test_help_imports_nothing_heavy():
    script = f"import sys\nfrom isrht.__main__ import main\ntry:\n    main(['--help'])\nfinally:\n    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"
    for command in ("reproduce", "report", "data", "info"):
        assert command in done.stdout


def test_help_takes_less_than_three_tenths_of_a_second():
    """Processor seconds of the process, so that a busy machine does not fail it; the best of three."""
    script = "import time\nfrom isrht.__main__ import main\ntry:\n    main(['--help'])\nfinally:\n    import sys; print(time.process_time(), file=sys.stderr)"
    times = [float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr) for _ in range(3)]
    assert min(times) < 0.3


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("reproduce", "--sets", "iris"), "unknown set 'iris'"),
        (("reproduce", "--method", "LDA"), "unknown method 'LDA'"),
        (("reproduce", "--part", "poster"), "unknown part 'poster'"),
        (("reproduce", "--protocol", "best"), "unknown protocol 'best'"),
        (("reproduce", "--data-dir", "/not/there"), "is not a folder"),
        (("reproduce", "--repetitions", "0"), "--repetitions"),
        (("report", "/not/there"), "no journal /not/there"),
        (("data", "fetch", "iris"), "unknown set 'iris'"),
        (("data", "fetch", "digits"), "needs no download"),
        (("fly",), "fly"),
    ],
)
def test_misuse_ends_with_two_and_a_message_on_stderr(arguments, message):
    done = isrht(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_every_command_has_help():
    from typer.testing import CliRunner

    from isrht.cli.app import app

    for command in (["reproduce"], ["report"], ["data"], ["data", "fetch"], ["info"]):
        result = CliRunner().invoke(app, [*command, "--help"])
        assert result.exit_code == 0
        assert "--json" in result.output
