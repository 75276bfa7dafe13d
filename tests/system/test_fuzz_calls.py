"""A short run of the fuzz of all public calls (``tests/fuzz``), and that it would see what it looks for.

``make fuzz`` makes a hundred thousand calls. The seeds here are fixed, so that a run can be repeated:
``PYTHONPATH=tests python -m fuzz --seed 3``.
"""

import os
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pandas")
pytest.importorskip("polars")

from fuzz.__main__ import Worker, play_batch, summary
from fuzz.dense import LAYOUTS, Dense
from fuzz.estimators import Session
from fuzz.matrices import as_numbers
from fuzz.parameters import ESTIMATORS, PARAMETERS
from fuzz.sparse import DAMAGES, QUIRKS, Sparse
from fuzz.watch import Fault, Refused, Watch
from isrht import SparseEmbedding
from isrht.support.sparse_structure import check_sparse

SHORT_RUN_CALLS = 1600


def test_a_short_run_finds_nothing(tmp_path):
    counts, faults = Worker(0, 1, SHORT_RUN_CALLS, tmp_path).wait()
    assert faults == []
    assert counts.total() >= SHORT_RUN_CALLS
    returned = {entry for entry, outcome in counts if outcome == "returned"}
    wanted = {f"{estimator.__name__}.fit" for estimator in ESTIMATORS} | {
        "fwht",
        "read_rows",
        "save",
        "load",
        "Predictor",
    }
    assert wanted <= {entry for entry, _ in counts}
    assert len(wanted & returned) >= 0.8 * len(wanted)  # which ones, is for the version of Hypothesis to draw
    raised = sum(count for (_, outcome), count in counts.items() if outcome != "returned")
    assert 0.05 < raised / counts.total() < 0.6  # else the calls would be too tame, or too wild


# --- what is given ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_layout_changes_no_value(layout):
    expected = as_numbers(Dense((5, 3)).make())
    found = as_numbers(Dense((5, 3), layout=layout).make())
    np.testing.assert_array_equal(found, expected[[0] * 5] if layout == "broadcast" else expected)


@pytest.mark.parametrize("quirk", QUIRKS)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_a_quirk_changes_no_value(format, quirk):
    if quirk == "explicit zeros":
        assert 0 in Sparse((5, 3), format, quirk=quirk).make().data
        return
    expected = Sparse((5, 3), format).make().toarray()
    found = Sparse((5, 3), format, quirk=quirk).make()
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)  # SciPy wants signs
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize("quirk", QUIRKS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (5, 3)])
def test_a_quirk_takes_no_fault_away(shape, quirk):
    for seed in range(20):
        recipe = Sparse(shape, values="nan", quirk=quirk, seed=seed)
        assert recipe.faulty
        assert np.isnan(recipe.make().data).any()


@pytest.mark.parametrize("format", DAMAGES)
def test_every_damage_is_seen_at_the_door(format):
    for damage in DAMAGES[format]:
        recipe = Sparse((6, 9), format, damage=damage)
        assert recipe.faulty
        if damage not in ("values complex", "values words"):  # which scikit-learn refuses, or SciPy by its conversion
            with pytest.raises(ValueError, match="malformed"):
                check_sparse(recipe.make())


def test_a_recipe_is_its_own_code():
    for recipe in (Dense((5, 3), "f4", "huge", "F", 7), Sparse((5, 3), "coo", damage="row too large")):
        assert eval(repr(recipe)) == recipe


def test_every_parameter_of_every_estimator_is_drawn():
    for estimator, table in PARAMETERS.items():
        assert set(table) == set(estimator().get_params())


# --- what would be seen -----------------------------------------------------------------------------------------------


def returning(value):
    return lambda *_: value


def raising(error):
    def call(*_):
        raise error

    return call


def spoiling(array):
    array.base[0] += 1


def warning(category):
    return lambda *_: warnings.warn("something", category, stacklevel=1)


@pytest.mark.parametrize(
    ("call", "must", "complaint"),
    [
        (raising(KeyError("x")), None, "raised what nobody expects: KeyError"),
        (raising(ZeroDivisionError("x")), None, "raised what nobody expects: ZeroDivisionError"),
        (raising(AttributeError("x")), None, "raised what nobody expects: AttributeError"),
        (raising(np.linalg.LinAlgError("x")), None, "raised what nobody expects: LinAlgError"),
        (raising(ValueError("")), None, "raised what nobody expects: ValueError"),
        (raising(ValueError("x")), "return", "raised, where it must return: ValueError: x"),
        (returning(1), "raise", "returned, where only an error is right"),
        (spoiling, None, "changed its arguments"),
        (warning(RuntimeWarning), None, "warned: RuntimeWarning: something"),
        (warning(FutureWarning), None, "warned: FutureWarning: something"),
    ],
)
def test_what_no_call_may_do_is_a_fault(call, must, complaint):
    view = np.arange(9.0)[1::2]
    with pytest.raises(Fault, match=complaint):
        Watch().call("entry", call, view, must=must)


def test_what_calls_may_do_is_none():
    watch = Watch()
    assert watch.call("entry", returning(3), np.ones(2), must="return") == 3
    with pytest.raises(Refused):
        watch.call("entry", raising(ValueError("a reason")), must="raise")
    watch.call("entry", warning(UserWarning))
    assert watch.counts == Counter({("entry", "returned"): 2, ("entry", "ValueError"): 1})
    assert "entry" in summary(watch.counts)


def test_an_error_of_a_block_is_looked_into():
    error = ValueError("block 1 (from row 3): 'x'")
    error.__cause__ = KeyError("x")
    with pytest.raises(Fault, match="raised what nobody expects: KeyError"):
        Watch().call("entry", raising(error))


def test_results_that_are_wrong_are_seen():
    watch, X = Watch(), np.eye(4)
    session = Session(None, watch, SparseEmbedding(3, random_state=0).fit(X), sound=True)
    right = session.model.transform(as_numbers(Dense((5, 4)).make()))
    session.check_columns(right, Dense((5, 4)))
    for wrong in (right[:4], right.astype(np.float32), right * np.nan, right + 1e-6):
        with pytest.raises(Fault):
            session.check_columns(wrong, Dense((5, 4)))
    with pytest.raises(Fault, match="not finite"):
        watch.demand_finite(sp.csr_array([[np.inf]]), "it")


def play_batches(count):
    for number in range(count):
        play_batch(number, Watch(), sessions=30)


def test_a_fault_that_is_found_is_made_smaller_and_told(monkeypatch):
    def spoiled(self, X):
        return np.zeros((X.shape[0], 1))

    monkeypatch.setattr(SparseEmbedding, "transform", spoiled)
    with pytest.raises(Fault, match=r"model = SparseEmbedding\(.*\n  SparseEmbedding.fit"):
        play_batches(20)


# --- processes that end before their time -----------------------------------------------------------------------------

SABOTAGE = """
import ctypes, sys, time
import fuzz.__main__ as program
import fuzz.watch
fuzz.watch.SECONDS_PER_CALL = 1

def run_session(draw, watch):
    watch.begin("a story")
    for _ in range(10):
        watch.call("good", int)
    if program.number == 2:
        watch.call("bad", {deed}, story="(17)")

def play_batch(number, watch):
    program.number = number
    run_session(None, watch)

program.play_batch = play_batch
program.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
@pytest.mark.parametrize(
    ("deed", "ending", "trace"),
    [
        ("lambda: ctypes.string_at(0)", "-11", "Segmentation fault"),
        ("lambda: time.sleep(60)", "1", "Timeout"),
        ("lambda: __import__('os').abort()", "-6", "Aborted"),
    ],
)
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer ends processes in its own way")
def test_a_crash_or_a_hang_names_its_call_and_the_rest_goes_on(tmp_path, deed, ending, trace):
    script = tmp_path / "sabotage.py"
    script.write_text(SABOTAGE.format(deed=deed))
    counts, faults = Worker(0, 1, 50, tmp_path, program=(sys.executable, str(script))).wait()
    assert len(faults) == 1
    assert f"seed 2: the process ended with {ending} in\na story\n" in faults[0]
    assert "bad(17)" in faults[0]
    assert trace in faults[0]
    assert counts["good", "returned"] >= 50
