"""The statistics pass of ISRHT in Spark: every partition measures its rows, and the driver adds up what they found.

``measure_partition`` runs on the executors, where isrht must be installed. Models of the same seed draw the same signs,
so their statistics merge. What travels is one pickle of O(K d) numbers per partition.
"""

import pickle
from functools import reduce

import numpy as np
import pyarrow as pa

from isrht import ISRHT


def measure_partition(batches):
    """From Arrow batches with columns ``features`` (lists of numbers) and ``label``: one model, or none for no rows."""
    model, rows = ISRHT(16, random_state=0), 0
    for batch in batches:
        if batch.num_rows:
            features = batch.column("features").flatten().to_numpy().reshape(batch.num_rows, -1)
            model.partial_fit(features, np.asarray(batch.column("label")))
            rows += batch.num_rows
    if rows:
        yield pa.RecordBatch.from_pydict({"model": [pickle.dumps(model)]})


def merge(model, other):
    model.statistics_ = model.statistics_.merge(other.statistics_)
    return model


def fit(frame):
    """ISRHT, fitted on all rows of a Spark data frame."""
    parts = frame.mapInArrow(measure_partition, "model binary").collect()
    return reduce(merge, [pickle.loads(part.model) for part in parts])
