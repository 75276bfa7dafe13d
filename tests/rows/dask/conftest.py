"""What the tests of rows on a cluster share."""

from contextlib import contextmanager

import pytest


@contextmanager
def client_of(n_workers):
    """A client of so many worker processes of one thread each.

    A cluster looks for a lost worker some seconds later, and gives it up if it is lost again just then: tests that kill
    workers do not want that.
    """
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with client_of(2) as client:
        yield client


@pytest.fixture
def lone_worker():
    with client_of(1) as client:
        yield client


@pytest.fixture
def data(rng):
    X = rng.standard_normal((1200, 60)) + 0.3
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(1200) > 0).astype(int)
