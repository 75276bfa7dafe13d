"""What several test files share: kernels under test, and generated data."""

import numpy as np
import pytest

from isrht import kernels


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
