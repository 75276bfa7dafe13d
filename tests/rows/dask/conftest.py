"""What the tests of rows on a cluster share."""

import pytest


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def data(rng):
    X = rng.standard_normal((1200, 60)) + 0.3
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(1200) > 0).astype(int)
