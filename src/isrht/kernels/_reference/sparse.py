"""The twins of the kernels on sparse rows (``core/sparse``). Rows ``x`` are :class:`~isrht.kernels.records.CsrRows`."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.kernels._reference.checks import check_csr, check_range
from isrht.kernels._reference.sums import add_at, count_up, pieces, rows_of_entries

# From so many columns on, eight entries of a sparse row of doubles make a group.
MANY_COLUMNS = 64
# A region of an autocorrelation has so many totals, and more where there would be more regions than this.
REGION, MOST_REGIONS = 2**15, 64


def project_csr(x, diagonal, length, columns, scales, out):
    """Do the same as ``project_rows`` for CSR rows: a signed sum over the entries of each row, taken in groups."""
    check_range(columns, length, "a chosen column is out of range")
    check_csr(x, len(diagonal))
    for rows in pieces(len(x.indptr) - 1, 1 + int(np.diff(x.indptr).max(initial=0)) * len(columns)):
        starts = x.indptr[rows.start : rows.stop + 1]
        entries = slice(starts[0], starts[-1])
        features, places = np.unique(x.indices[entries], return_inverse=True)
        signs = 1 - 2 * (np.bitwise_count(features[:, None] & columns) % 2).astype(x.data.dtype)
        values = x.data[entries] * diagonal[x.indices[entries]]
        np.multiply(_sums_in_groups(values, places, starts - starts[0], signs), scales, out=out[rows])


def _sums_in_groups(values, places, starts, signs):
    """Return the sum of ``values[e] * signs[places[e]]`` over the entries of each row.

    Three consecutive floats are added first, or two doubles; in many columns, pairs of doubles are added to fours and
    these to eights. The sums of a row's groups are then added one after another.
    """
    sums = signs
    few = signs.shape[1] < MANY_COLUMNS
    for size in [3] if signs.itemsize == 4 else [2] if few else [2, 2, 2]:
        groups = -(-np.diff(starts) // size)
        group_starts = np.repeat(starts[:-1], groups) + size * count_up(groups)
        sums = _sums_of_runs(values, places, np.append(group_starts, starts[-1]), sums)
        values, places, starts = np.ones(len(sums), signs.dtype), np.arange(len(sums)), np.append(0, np.cumsum(groups))
    return _sums_of_runs(values, places, starts, sums)


def _sums_of_runs(values, places, starts, addends):
    """Add ``values[e] * addends[places[e]]`` one after another, from each start to the next."""
    return sp.csr_array((values, places, starts), (len(starts) - 1, len(addends))) @ addends


def add_csr_rows(x, chosen, totals):
    """Add the chosen rows to ``totals``."""
    check_csr(x, len(totals))
    check_range(chosen, len(x.indptr) - 1, "a chosen row is out of range")
    sizes = np.diff(x.indptr)[chosen]
    entries = np.repeat(x.indptr[chosen], sizes) + count_up(sizes)
    np.add.at(totals, x.indices[entries], x.data[entries].astype(np.float64))


def add_csr_autocorrelation(x, chosen, diagonal, totals):
    """Add ``u_k u_l`` to ``totals[k ^ l]`` over all pairs of entries of each chosen row, where ``u = x * diagonal``.

    Large totals are worked through region by region. The entries of a row are sorted by region; each of them meets
    itself, then those before it that are in its own region, and those behind it that are in others.
    """
    check_csr(x, len(diagonal))
    check_range(chosen, len(x.indptr) - 1, "a chosen row is out of range")
    region_size = len(totals) // min(max(len(totals) // REGION, 1), MOST_REGIONS)
    for row in chosen:
        start = x.indptr[row]
        regions = x.indices[start : x.indptr[row + 1]] // region_size
        order = np.argsort(regions, kind="stable")
        features, values = x.indices[start + order], x.data[start + order].astype(np.float64)
        values *= diagonal[features]
        together = np.equal.outer(regions[order], regions[order])
        met = np.where(together, np.tri(len(order), k=-1, dtype=bool), ~np.tri(len(order), dtype=bool))
        met = np.insert(met, 0, True, axis=1)
        places = np.insert(np.bitwise_xor.outer(features, features), 0, 0, axis=1)
        products = np.insert(np.multiply.outer(2 * values, values), 0, values * values, axis=1)
        np.add.at(totals, places[met], products[met])


def add_csr_moments(x, first, second, totals):
    """Add ``x first``, ``x second`` and ``x**2 second`` to ``totals`` (width, 3, problems).

    ``first`` and ``second`` (rows, problems) are the factors of each row.
    """
    check_csr(x, len(totals))
    if first.shape != second.shape or len(first) != len(x.indptr) - 1:
        raise ValueError("first and second must have a row of factors for each row")
    if totals.shape[1:] != (3, first.shape[1]):
        raise ValueError("totals has the wrong shape")
    rows, entries = rows_of_entries(x.indptr), slice(x.indptr[0], x.indptr[-1])
    counts = ((first != 0) | (second != 0)).any(axis=1)[rows]
    _add_moments(x.data[entries][counts], x.indices[entries][counts], rows[counts], first, second, totals)


def moments_of_features(x, factors, totals):
    """Set ``totals`` to the moments of data that are stored by feature.

    The CSR rows are features, and their columns the rows of the data, which have ``factors`` (rows, 2, problems).
    """
    if factors.shape[1] != 2:
        raise ValueError("factors must be two for each row and problem")
    check_csr(x, len(factors))
    if totals.shape != (len(x.indptr) - 1, 3, factors.shape[2]):
        raise ValueError("totals has the wrong shape")
    totals[...] = 0
    entries = slice(x.indptr[0], x.indptr[-1])
    features, rows = rows_of_entries(x.indptr), x.indices[entries]
    _add_moments(x.data[entries], features, rows, factors[:, 0], factors[:, 1], totals)


def _add_moments(data, features, rows, first, second, totals):
    """Add what each entry, a value of a feature in a row, adds to the moments of its feature."""
    for part in pieces(len(data), 3 * first.shape[1]):
        x, one, two = data[part, None].astype(np.float64), first[rows[part]], second[rows[part]]
        add_at(totals, features[part], np.stack([x * one, x * two, x * x * two], axis=1))
