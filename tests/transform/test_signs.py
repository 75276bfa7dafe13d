"""Random signs."""

import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.transform.signs import counted_signs, random_signs

PINNED = [-1, -1, 1, -1, -1, 1, 1, -1, 1, 1, 1, -1, -1, 1, -1, -1]
PINNED_DIGEST = "72c51269f10d6388ec370035631e4747dbc5b5fc2b6fd4b5abfb400fcd9d316f"


def test_signs_are_fair_and_independent():
    signs = random_signs(np.random.RandomState(0), (2, 20_000))
    assert signs.dtype == np.int8
    assert_array_equal(np.unique(signs), [-1, 1])
    assert np.abs(signs.mean(axis=1)).max() < 0.03
    assert abs((signs[0] * signs[1]).mean()) < 0.03


def test_the_same_seed_draws_the_same_signs():
    """Models in files, and the golden ones, depend on these."""
    assert_array_equal(random_signs(np.random.RandomState(0), 8), [-1, 1, 1, -1, 1, 1, 1, 1])
    assert_array_equal(random_signs(np.random.RandomState(7), 64), random_signs(np.random.RandomState(7), 64))


def philox(counter, key):
    """Philox4x64-10 in plain Python, after Salmon et al. (2011)."""
    mask = 2**64 - 1
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(second >> 64) ^ c[1] ^ k[0], second & mask, (first >> 64) ^ c[3] ^ k[1], first & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    return c


@pytest.mark.parametrize("seed", [0, 1, 20200207, 2**32 - 1, 2**64 - 1])
@pytest.mark.parametrize("stream", [0, 5])
def test_counted_signs_are_the_bits_of_philox(seed, stream):
    words = [word for block in range(1, 5) for word in philox((block, 0, 0, stream), (seed, 0))]
    expected = [1 - 2 * (word >> bit & 1) for word in words for bit in range(64)]
    for size in (1, 63, 64, 65, 1000):
        assert counted_signs(seed, stream, size).tolist() == expected[:size]


def test_counted_signs_are_pinned():
    """Vectors that were rotated yesterday must match those of today: these numbers never change."""
    assert counted_signs(0, 0, 16).tolist() == PINNED
    digest = hashlib.sha256(b"".join(counted_signs(7, stream, 5000).tobytes() for stream in range(6))).hexdigest()
    assert digest == PINNED_DIGEST


def test_counted_signs_are_random():
    signs = np.stack([counted_signs(seed, stream, 4096) for seed in range(8) for stream in range(4)]).astype(float)
    products = signs @ signs.T / 4096
    assert np.abs(products - np.eye(32)).max() < 5 / 64
    assert np.abs(signs.mean(axis=1)).max() < 4 / 64
