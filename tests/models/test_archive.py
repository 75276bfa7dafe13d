"""The bytes of a model file: the same for equal models, readable by other tools, and refused if one bit is another."""

import io
import json
import zipfile

import numpy as np
import pytest
from forged_files import content_of, forged, model_of, packed, read, sealed
from kept_models import MODELS, assert_same, assert_same_bits, fit, fitted_model

from isrht import LinearSVM
from isrht.models import ModelFileError, _archive
from isrht.models._zip_format import MANIFEST_NAME, local_header


@pytest.fixture
def content():
    return content_of(fitted_model("svm"))


# The randomized SVD of leverage scores may round otherwise the second time.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "leverage"])
def test_equal_models_give_equal_bytes(data, name):
    first = content_of(fitted_model(name))
    assert content_of(fit(name, *data)) == first
    assert content_of(model_of(first)) == first


def test_numpy_and_zip_tools_read_the_file(fitted):
    file = zipfile.ZipFile(io.BytesIO(content_of(fitted)))
    assert file.testzip() is None
    assert file.namelist()[0] == "manifest.json"
    manifest = json.loads(file.read("manifest.json"))
    assert manifest["model"]["class"] == type(fitted).__name__
    arrays = np.load(io.BytesIO(content_of(fitted)), allow_pickle=False)
    for name, spec in manifest["members"].items():
        assert list(arrays[name].shape) == spec["shape"]
        assert arrays[name].dtype.str == spec["dtype"]
        assert_same_bits(arrays[name], np.load(io.BytesIO(file.read(f"{name}.npy"))))


# ------------------------------------------------------------ damage


def test_a_flipped_bit_is_noticed_wherever_it_is(content):
    """Also in those bytes of the archive that no zip tool looks at."""
    content = bytearray(content)
    for position in range(0, len(content), 5):
        content[position] ^= 1 << position % 8
        with pytest.raises(ModelFileError):
            model_of(content)
        content[position] ^= 1 << position % 8
    model_of(content)


def test_every_truncation_and_extension_is_noticed(content):
    for length in [1, 2, 3, 5, *range(7, len(content), 13), len(content) - 1]:
        with pytest.raises(ModelFileError, match="truncated"):
            model_of(content[:length])
    with pytest.raises(ModelFileError, match="1 bytes longer"):
        model_of(content + b"\0")


def test_a_file_packed_anew_is_refused(content):
    again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(again, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(ModelFileError, match="packed by another program"):
        model_of(again.getvalue())


def test_a_wrong_checksum_is_named(content):
    manifest, arrays = read(content)
    _, members = _archive.describe(manifest["model"], arrays, manifest["about"])
    manifest["sha256"] = "0" * 64
    with pytest.raises(ModelFileError, match="its checksum is wrong"):
        model_of(packed(_archive.to_json(manifest), members))


# ------------------------------------------------------------ forged manifests


def test_a_forged_file_that_is_right_loads(content):
    assert_same(model_of(forged(content, manifest={"isrht_version": "0.0.7"})), fitted_model("svm"))


def declared(dtype, shape):
    return {"members": {"coef_": {"dtype": dtype, "shape": shape, "fortran_order": False}}}


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"format": "other"}, "format is not 'isrht-model'"),
        (
            {"format_version": 2, "isrht_version": "7.1"},
            r"format version 2, .* isrht 7\.1, .* up to format version 1",
        ),
        ({"format_version": 0}, "format version 0 is unknown"),
        ({"format_version": "1"}, "format version '1' is unknown"),
        ({"format_version": True}, "format version True is unknown"),
        ({"more": 1}, "other entries"),
        ({"model": []}, "describes no model"),
        ({"about": "nothing"}, "says about the model is no table"),
        ({"model": {"class": "LinearSVM"}}, "describes no model"),
        ({"members": []}, "lists no members"),
        ({"members": {"../up": {"strings": 3}}}, "no member is called"),
        (declared("|O", [3]), "no member is declared"),
        (declared("<f8", [-3]), "no member is declared"),
        (declared("<f8", []), "no member is declared"),
        (declared("<f8", [2**45]), "truncated: its arrays need"),
        (declared("<U999999", [2**47, 2**47]), "truncated"),
        ({"members": {"coef_": {"strings": 2**47}}}, "truncated"),
        ({"members": {}}, "bytes longer"),
    ],
    ids=str,
)
def test_forged_manifests_are_refused(content, manifest, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(forged(content, manifest=manifest))


def test_a_manifest_larger_than_allowed_is_refused(content):
    head = local_header(MANIFEST_NAME, 2**40, 0)
    with pytest.raises(ModelFileError, match=f"declares {2**40} bytes"):
        model_of(head + content[len(head) :])


def test_a_manifest_written_otherwise_is_refused(content):
    """No second way to write the same: no spaces, no repeated keys."""
    manifest, _ = read(content)
    for text in (json.dumps(manifest).encode(), b"[" * 100_000, b"1" * 5000, b"NaN", b"\xff"):
        with pytest.raises(ModelFileError, match=r"its manifest is (damaged|nested|not that of a model)"):
            model_of(packed(text))


def test_a_manifest_nested_deeply_is_refused():
    deep = {"format": "isrht-model", "format_version": 1} | {key: {} for key in _archive.MANIFEST_KEYS[2:]}
    text = json.dumps(deep).replace('"model": {}', f'"model": {"[" * 900}{"]" * 900}')
    with pytest.raises(ModelFileError):
        model_of(packed(text.encode()))


@pytest.mark.parametrize("bad", ["[1, 2, 3]", '{"a": 1}', "[1", "é", '["a", ["b"]]'])
def test_lists_of_strings_that_are_none_are_refused(data, bad):
    names = np.array(["ash", "birch", "cedar"], dtype=object)
    manifest, arrays = read(content_of(LinearSVM().fit(data[0], names[data[1]])))
    raw, members = _archive.describe(manifest["model"], arrays, manifest["about"])
    bad = bad.encode("latin-1").ljust(len(json.dumps(names.tolist())))
    members[0] = ("classes_.json", b"", np.frombuffer(bad, dtype=np.uint8))
    with pytest.raises(ModelFileError, match=r"classes_ is (damaged|not a list of strings)"):
        model_of(sealed(json.loads(raw), members))
