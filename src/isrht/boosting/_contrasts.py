"""Walsh contrasts: columns of H beside column 0, along which a learned diagonal still points at the classes."""

from __future__ import annotations

import numpy as np

from isrht import kernels
from isrht.projections.selection import comparable
from isrht.transform.lengths import next_power_of_two


def best_contrasts(signal, count):
    """Return the columns of H, but for column 0, along which a signal is largest, the best first.

    Parameters
    ----------
    signal : array of shape (n_features,)
        Diagonal times gradient: what each feature adds to column 0.
    count : int
        How many columns are wanted.

    Returns
    -------
    ndarray of at most ``count`` integers
    """
    padded = np.zeros(next_power_of_two(len(signal)))
    padded[: len(signal)] = signal
    kernels.engine.transform(padded[None, :, None], 1.0)
    size = comparable(np.abs(padded))
    size[0] = -1
    count = min(count, len(size) - 1)
    if count == 0:
        return np.empty(0, dtype=np.int64)
    smallest = np.partition(size, len(size) - count)[len(size) - count]
    among = np.flatnonzero(size >= max(smallest, 0))
    return among[np.argsort(-size[among], kind="stable")][:count]
