"""What several test files share: kernels under test, and generated data."""

import numpy as np
import pytest

from isrht import _kernels


@pytest.fixture(params=_kernels.available())
def kernel(request):
    """Each kind of kernels this machine can run, in turn."""
    before = _kernels.active()
    _kernels.use(request.param)
    yield request.param
    _kernels.use(before)


@pytest.fixture
def rng():
    return np.random.default_rng(20200207)
