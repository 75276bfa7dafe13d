"""Model files as bytes: what is in them, and what a stranger could write who knows how checksums are made."""

import io
import json

import numpy as np

from isrht import load, save
from isrht.models import _archive
from isrht.models._zip_format import archive


def content_of(model, **options):
    """Return the bytes of the file of a model."""
    file = io.BytesIO()
    save(model, file, **options)
    return file.getvalue()


def model_of(content):
    """Return the model in a file."""
    return load(io.BytesIO(content))


def read(content):
    """Return the manifest of a file, and its arrays by name."""
    raw = np.frombuffer(content, dtype=np.uint8)
    manifest = _archive.read_manifest(raw)
    return manifest, _archive.read_members(raw, manifest)


def node_of(content):
    """Return what a file says of its model."""
    return read(content)[0]["model"]


def forged(content, *, node=None, arrays=None, manifest=None):
    """Return a file with another node, other arrays, or other entries of its manifest."""
    found, found_arrays = read(content)
    arrays = found_arrays if arrays is None else arrays
    raw, members = _archive.describe(node or found["model"], arrays, found["about"])
    return sealed(json.loads(raw) | (manifest or {}), members)


def sealed(manifest, members):
    """Return a file of this manifest, whose checksum is made right, and these members."""
    manifest = {key: value for key, value in manifest.items() if key != "sha256"}
    manifest["sha256"] = _archive.checksum(manifest, [data for *_, data in members])
    return packed(_archive.to_json(manifest), members)


def packed(manifest, members=()):
    """Return an archive of these bytes, whatever they say."""
    return b"".join(map(bytes, archive(manifest, members)))


def with_array(content, name, change):
    """Return a file in which one array has been changed by a function."""
    _, arrays = read(content)
    return forged(content, arrays=arrays | {name: change(arrays[name])})


def with_value(content, name, value):
    """Return a file in which one plain value of the model is another."""
    node = node_of(content)
    node["values"][name] = value
    return forged(content, node=node)


def with_part_of(content, name, other):
    """Return a file in which an estimator inside the model is that of another file."""
    (manifest, arrays), (part, part_arrays) = read(content), read(other)
    node = manifest["model"]
    node["parts"][name] = part["model"]
    return forged(content, node=node, arrays=arrays | {f"{name}/{key}": value for key, value in part_arrays.items()})


def leaves(node, way=()):
    """Yield the way to every entry of a node, and of what is in it."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from leaves(value, (*way, key))
