import io

import pytest

from isrht.cli._progress import BarListener, DownloadBar, LineListener, accuracy_text
from isrht.experiments.plan import Grid, Skip, plan


@pytest.fixture
def tasks():
    return plan(Grid({"digits": "a"}, ("PCA", "SRHT"), ("table", "complexity"), repetitions=2))[0]


def finish(listener, tasks):
    listener.begin(
        tasks[1:],
        [{"set": "digits", "method": "PCA", "r": 16, "accuracy": 0.9}],
        [Skip("real-sim", None, "not here")],
        [3],
    )
    for task in tasks[1:]:
        listener.started(task)
        ok = {"set": task.set, "method": task.method, "r": task.r, "status": "ok"}
        listener.finished(task, ok | ({"accuracy": 0.8} if task.kind == "accuracy" else {}))
    listener.finished(tasks[0], {"set": "digits", "method": "PCA", "r": 16, "status": "failed", "error": "too large"})
    listener.end()


def test_plain_lines(tasks, capsys):
    finish(LineListener(), tasks)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("skipped real-sim: not here\nthe journal has 1 damaged lines")
    assert "digits, SRHT, r=16: 80.00 ± 0.00" in err
    assert "failed digits, PCA, r=16, seed 0: too large" in err


def test_a_long_set_is_not_silent(tasks, capsys, monkeypatch):
    monkeypatch.setattr("isrht.cli._progress.SILENCE_SECONDS", -1)
    finish(LineListener(), tasks)
    assert "digits, SRHT, r=16: 80.00 (1 of 2)" in capsys.readouterr().err


def test_bars_and_the_growing_table(tasks, monkeypatch):
    pytest.importorskip("rich")
    from rich.console import Console

    stream = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=stream, force_terminal=True, width=160))
    finish(BarListener(), tasks)
    text = stream.getvalue()
    assert "80.00 ± 0.00" in text
    assert " s left" in text
    assert "Table 1" in text
    assert "too large" in text


def test_names_are_no_markup_and_no_codes(monkeypatch):
    pytest.importorskip("rich")
    from rich.console import Console

    from isrht.datasets import registry

    name = "[red]\x1b[2Jset"
    monkeypatch.setitem(registry.DATASETS, name, registry.DATASETS["digits"])
    tasks = plan(Grid({name: "a"}, ("PCA", "SRHT"), ("table",), repetitions=1))[0]
    stream = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=stream, force_terminal=True, width=160))
    bars = BarListener()
    bars.begin(tasks, [], [], [])
    bars.started(tasks[0])
    bars.finished(tasks[0], {"set": name, "method": "PCA", "r": 16, "status": "ok", "accuracy": 0.8})
    bars.finished(tasks[1], {"set": name, "method": "SRHT", "r": 16, "status": "failed", "error": "[Errno 28] \x1b[2J"})
    bars.end()
    text = stream.getvalue()
    assert "\x1b[2J" not in text
    assert text.count("[red]\\x1b[2Jset") >= 2
    assert ": [Errno 28] \\x1b[2J" in text


@pytest.mark.parametrize("terminal", [False, True])
def test_a_download_bar_does_what_pooch_asks_of_it(terminal, capsys):
    pytest.importorskip("rich")
    bar = DownloadBar("set.bz2", terminal)
    bar.total = 100
    bar.update(60)
    bar.update(40)
    assert bar.count == bar.total
    bar.reset()
    bar.update(100)
    bar.close()
    assert "set.bz2" in capsys.readouterr().err


def test_texts():
    assert accuracy_text([]) == ""
    assert accuracy_text([90.0]) == ": 90.00"
    assert accuracy_text([90.0, 92.0]) == ": 91.00 ± 1.41"
