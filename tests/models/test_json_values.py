"""Values in JSON come back as they were, with their types; what is no plain value is refused."""

import json

import numpy as np
import pytest
from kept_models import assert_same

from isrht.models._json_values import NotStorable, decode, encode
from isrht.support.codec import ModelFileError


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**63,
        -0.0,
        1e-300,
        float("inf"),
        float("nan"),
        "ü\ud800",
        [1, 2.0, None],
        (1, (2, 3)),
        {},
        {0: 1.0, "a": 2, 2.5: [3], np.int8(4): np.float32(0.1)},
        np.float64(0.1),
        np.bool_(True),
        np.str_("a"),
        2.0 ** np.arange(-5, 6),
        np.array([[1, 2], [3, 4]], dtype=np.uint16),
        np.array([1, 2], dtype=">i4").astype("=i4"),
        np.array([np.nan, -np.inf], dtype=np.float16),
    ],
    ids=repr,
)
def test_values_keep_their_type(value):
    text = json.dumps(encode(value), allow_nan=False)
    assert_same(decode(json.loads(text)), value)


@pytest.mark.parametrize(
    "value",
    [object(), 2**64, 1j, {1}, {"a": {1}}, np.complex64(1), np.array([None]), np.datetime64("2020-01-01"), print],
    ids=lambda value: type(value),
)
def test_what_is_no_plain_value_is_refused(value):
    with pytest.raises(NotStorable, match="a model file cannot hold"):
        encode([value])


def test_a_subclass_is_no_plain_value():
    """It would come back as another type."""

    class Mine(int):
        pass

    with pytest.raises(NotStorable):
        encode(Mine(3))


@pytest.mark.parametrize(
    "coded",
    [
        {},
        {"float": "1"},
        {"float": 1.0},
        {"tuple": 1},
        {"dict": {}},
        {"numpy": ["|O", [], [1]]},
        {"numpy": ["<f8", [], 1]},
        {"evil": 1},
    ],
    ids=str,
)
def test_what_encode_would_not_write_is_refused(coded):
    with pytest.raises(ModelFileError, match="no value is written like"):
        decode([coded])


def test_a_short_text_cannot_become_a_large_array():
    with pytest.raises(ModelFileError, match="a parameter is of absurd size"):
        decode({"numpy": ["<U999999", [10_000], ["x"] * 10_000]})
