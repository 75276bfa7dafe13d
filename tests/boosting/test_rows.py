"""What boosting keeps of the rows, in memory and elsewhere."""

import os
import tracemalloc

import numpy as np
import pytest
from boosting_data import some_rows
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isrht import BoostedISRHT, ISRHTClassifier, RowSource
from isrht.boosting import _rows, _sample
from isrht.boosting._rows import FiledRows, Head, LearnedRows
from isrht.rows import blocks
from isrht.rows import values as per_row
from isrht.rows.blocks import RowBlocks
from isrht.support.spill_file import SpillFile


@pytest.mark.parametrize("kind", [LearnedRows, FiledRows])
def test_sums_over_blocks_and_views_of_them(rng, kind, monkeypatch):
    rows = some_rows(rng, kind)
    monkeypatch.setattr(_rows, "AT_ONCE", 1)
    head = Head(1, 2, rng.standard_normal((3, 3)), np.zeros(3))
    whole = rows.training_weights(1) @ head.residual(rows)
    assert_allclose(rows.sum(lambda some: some.training_weights(1) @ head.residual(some), 2), whole, rtol=1e-12)
    some = rows[10:20]
    assert_array_equal(some.Y, rows.Y[10:20])
    assert_allclose(
        rows.roles.mean_label(rows.folds[2]), rows.training_weights(2) @ rows.Y / rows.training_weights(2).sum()
    )
    some.columns[3, 1] = 7
    assert (rows.columns[3, 1, 10:20] == 7).all()
    assert not np.may_share_memory(rows.copy().columns, rows.columns)


def test_the_residual_starts_at_the_labels_around_their_mean(rng):
    rows = some_rows(rng, n_classes=2)
    head = Head(0, 0, np.zeros((1, 1)), rows.roles.mean_label(0))
    assert_allclose(rows.training_weights(0) @ head.residual(rows), 0, atol=1e-12)


class Generated:
    """Rows that take no memory: each pass makes them anew."""

    def __init__(self, n_blocks, block_rows=1000):
        self.n_blocks, self.block_rows = n_blocks, block_rows

    def __iter__(self):
        for i in range(self.n_blocks):
            X = np.random.default_rng(i).standard_normal((self.block_rows, 4))
            yield X, (X[:, 0] > 0).astype(np.int8)


MODELS = {
    "boosted": BoostedISRHT(16, rounds=2, diagonal="z", threshold=0, random_state=0),
    "supervised": ISRHTClassifier(
        4, selection="supervised", class_weight="balanced", Cs=[0.1, 1], cv=2, random_state=0
    ),
    "scored on a sample": ISRHTClassifier(4, selection="supervised", C=1.0, n_score_samples=1000, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_out_of_core_holds_nothing_per_row(name, monkeypatch):
    monkeypatch.setattr(blocks, "READ_ELEMENTS", 2**15)
    monkeypatch.setattr(_rows, "AT_ONCE", 2**14)
    monkeypatch.setattr(per_row, "AT_ONCE", 2**13)
    monkeypatch.setattr(_sample, "MOST_ROWS", 2**12)

    def peak(n_blocks):
        tracemalloc.start()
        clone(MODELS[name]).fit(RowSource(Generated(n_blocks, 10_000)))
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(4)
    assert (peak(24) - peak(4)) / 200_000 < 1  # byte


def test_a_full_disk_is_an_error_and_not_a_signal(monkeypatch, rng):
    def full(*_):
        raise OSError(28, "No space left on device")

    if hasattr(os, "posix_fallocate"):
        monkeypatch.setattr(os, "posix_fallocate", full)
    else:
        monkeypatch.setattr(SpillFile, "_fill", full)
    with pytest.raises(OSError, match="learned columns could not be kept in .*No space left on device.*TMPDIR"):
        BoostedISRHT(2, rounds=1).fit(RowSource(Generated(3)))


def test_threads_share_only_what_takes_longer_than_to_start_them(rng, monkeypatch):
    rows = some_rows(rng)
    asked = []
    monkeypatch.setattr(RowBlocks, "map", lambda _, function, n_jobs=None: asked.append(n_jobs) or [])
    for most in (len(rows) // 64, len(rows) // 64 - 1):
        monkeypatch.setattr(_rows, "AT_ONCE", 1)
        monkeypatch.setattr(_rows, "BLOCKS_FOR_THREADS", most + 1)
        rows.each(len, 2)
    assert asked == [None, 2]
