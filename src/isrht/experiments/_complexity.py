"""Measure the paper's Table 1: seconds to fit and project n rows of d features to r columns, and the bytes of R."""

from __future__ import annotations

import re
import time

import numpy as np

from isrht.experiments.methods import method_named
from isrht.experiments.run import failure, fit_projection, projection_bytes, record_of

REPEATS = 3


def run_projection(task):
    """Measure a projection and return the record of it; an error is recorded, not raised."""
    try:
        result = {"status": "ok"} | measure_projection(task)
    except Exception as error:
        result = failure(error)
    return record_of(task, result)


def measure_projection(task):
    """Return the least seconds of a few repeats, because all that varies between them are disturbances."""
    n, d = (int(number) for number in re.fullmatch(r"n=(\d+) d=(\d+)", task.set).groups())
    rng = np.random.default_rng(task.seed)
    X, y = rng.standard_normal((n, d)), rng.integers(2, size=n)
    method = method_named(task.method)
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        fitted = fit_projection(method.make(task.r, task.seed, sparse=False), method, X, y)
        between = time.process_time()
        fitted.transform(X)
        times.append((between - start, time.process_time() - between))
    fit, project = np.min(times, axis=0)
    return {
        "seconds": {"fit": round(float(fit), 6), "project": round(float(project), 6)},
        "total_seconds": round(float(fit + project), 6),
        "bytes": {"projection": projection_bytes(fitted)},
        "shape": [n, 0, d],
    }
