"""Rows in Dask, in uneven partitions. A test module that imports this is skipped where there is no Dask."""

import itertools

import pandas as pd
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, CUTS = 1200, [0, 10, 700, 701, 1200]


def slices():
    return [slice(first, last) for first, last in itertools.pairwise(CUTS)]


def uneven(values):
    """A Dask array of uneven chunks of rows."""
    parts = [values[rows] for rows in slices()]
    return da.concatenate([da.from_array(part, chunks=part.shape) for part in parts])


def delayed_blocks(values):
    return [dask.delayed(values[rows]) for rows in slices()]


def frame(X):
    whole = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    return dd.concat([dd.from_pandas(whole[rows], npartitions=1) for rows in slices()])
