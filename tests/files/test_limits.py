"""Limits keep a damaged file from asking for all memory."""

import numpy as np
import pytest

from isrht.files.limits import Limits, check_whole_number


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", None, True])
def test_a_limit_is_a_positive_whole_number(value):
    with pytest.raises(ValueError, match="features of Limits must be a positive whole number, got"):
        Limits(features=value)
    if value is not None:
        with pytest.raises(ValueError, match="unpacked_bytes of Limits must be a positive whole number or None, got"):
            Limits(unpacked_bytes=value)
    check_whole_number("rows", np.int64(1))


def test_archives_unpack_to_a_multiple_of_their_size_but_small_ones_to_more():
    assert Limits().unpacked_bytes_of(1) == 2**30
    assert Limits().unpacked_bytes_of(2**30) == 200 * 2**30
    assert Limits(unpacked_bytes=7).unpacked_bytes_of(2**30) == 7
