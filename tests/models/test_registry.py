"""The list of what a model file can hold: all that is public, each under its own name."""

import re
from pathlib import Path

import pytest
from kept_models import MODELS
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

import isrht
from isrht.models._registry import CODECS, codec_named, codec_of
from isrht.support.codec import Codec


def test_every_public_estimator_has_a_codec():
    public = [getattr(isrht, name) for name in isrht.__all__]
    estimators = {kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)}
    assert len(estimators) >= 8
    assert estimators <= CODECS.keys()


@pytest.mark.parametrize("name", CODECS)
def test_a_line_leads_to_the_codec_of_its_class(name):
    codec = codec_named(name)
    assert isinstance(codec, Codec)
    assert codec.cls.__name__ == name


def test_the_codec_of_our_own_class_stands_beside_it():
    for name, place in CODECS.items():
        own = codec_named(name).cls.__module__
        if own.startswith("isrht."):
            assert place == f"{own}_codec:CODEC"


def test_models_of_every_class_are_tried():
    assert {type(model).__name__ for model in MODELS.values()} == CODECS.keys()


def test_a_class_is_known_by_more_than_its_name():
    class StandardScaler:
        pass

    with pytest.raises(TypeError, match=r"cannot save .*StandardScaler: a model file holds ISRHT, "):
        codec_of(StandardScaler())


def test_the_codec_of_an_estimator_is_that_of_its_class():
    assert codec_of(StandardScaler()) is codec_named("StandardScaler")


def test_the_documentation_lists_what_can_be_kept():
    text = (Path(__file__).parents[2] / "docs" / "model-files.md").read_text(encoding="utf-8")
    section = text.partition("## What can be kept\n")[2].partition("\n## ")[0]
    first_cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("|")]
    listed = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(listed) == sorted(CODECS)
