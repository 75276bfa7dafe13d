"""What several test files share: kernels under test, and generated data."""

import sys

import numpy as np
import pytest

from isrht import kernels
from isrht.rows import sources

# A fit would hold all sources of the tests in memory: they are small. Those that ask for it set it anew.
HELD_BYTES, sources.HELD_BYTES = sources.HELD_BYTES, 0


@pytest.fixture
def held(monkeypatch):
    """Let fits hold small sources in memory, as they do for users."""
    monkeypatch.setattr(sources, "HELD_BYTES", HELD_BYTES)


def pytest_sessionfinish():
    """Keep what was counted for `make coverage`: pytest-xdist gives a process ten seconds to end, and then kills it."""
    if "coverage" in sys.modules:
        counting = sys.modules["coverage"].Coverage.current()
        if counting is not None:
            counting.save()


@pytest.fixture(autouse=True, scope="module")
def no_scheduler_left():
    """Let Dask forget the scheduler of clients that a file of tests closed in another order than it opened them."""
    yield
    if "dask.config" in sys.modules:
        sys.modules["dask.config"].config.pop("scheduler", None)


@pytest.fixture(params=kernels.available())
def kernel(request):
    """Each kind of kernels this machine can run, in turn."""
    before = kernels.active()
    kernels.use(request.param)
    yield request.param
    kernels.use(before)


@pytest.fixture
def rng():
    return np.random.default_rng(20200207)
