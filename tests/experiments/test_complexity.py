import pytest

from isrht.experiments._complexity import run_projection
from isrht.experiments.plan import COMPLEXITY_METHODS
from isrht.experiments.run import Task


@pytest.mark.parametrize("method", COMPLEXITY_METHODS)
def test_bytes_of_R_are_those_of_table_1(method):
    d, r = 256, 16
    record = run_projection(Task("projection", f"n=64 d={d}", method, r, 0, "projection", "0", "generated"))
    assert record["status"] == "ok", record
    assert record["shape"] == [64, 0, d]
    bytes_of_R = record["bytes"]["projection"]
    if method == "Gaussian":
        assert bytes_of_R == 8 * d * r
    elif method == "Achlioptas":
        assert bytes_of_R == pytest.approx(12 * d * r / 3, rel=0.15)
    else:
        assert bytes_of_R <= 5 * d + 16 * r


def test_an_error_is_recorded():
    record = run_projection(Task("projection", "n=4 d=4", "SRHT", 64, 0, "projection", "0", "generated"))
    assert record["status"] == "failed"
