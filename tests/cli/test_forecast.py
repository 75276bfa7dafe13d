from types import SimpleNamespace

import pytest

from isrht.cli._forecast import Forecast, duration


def task(name, method, r=16):
    return SimpleNamespace(set=name, method=method, r=r)


def record(name, method, seconds, r=16):
    return {"set": name, "method": method, "r": r, "total_seconds": seconds}


def test_runs_cost_what_runs_like_them_have_cost():
    known = [record("news20", "PCA", 100), record("news20", "SRHT", 2), record("digits", "SRHT", 1)]
    tasks = [task("news20", "PCA"), task("news20", "SRHT"), task("news20", "new"), task("elsewhere", "new")]
    forecast = Forecast(tasks, known, clock=lambda: 0.0)
    assert forecast.seconds() == pytest.approx(100 + 2 + 51 + 103 / 3)
    assert forecast.seconds("news20") == pytest.approx(153)


def test_two_at_once_take_half_as_long():
    now = [0.0]
    tasks = [task("digits", "SRHT")] * 4
    forecast = Forecast(tasks, [], clock=lambda: now[0])
    assert forecast.seconds() == 4  # while nothing is known, every task counts as a second
    now[0] = 10.0
    for each in tasks[:2]:
        forecast.finished(each, record("digits", "SRHT", 10))
    assert forecast.seconds() == pytest.approx(10)
    for each in tasks[2:]:
        forecast.finished(each, {"set": "digits", "method": "SRHT", "r": 16, "status": "failed"})
    assert forecast.seconds() == 0


def test_durations():
    assert [duration(s) for s in (0, 59.9, 60, 754, 3900)] == ["0 s", "59 s", "1 min", "13 min", "1 h 5 min"]
