"""The bytes of a model file: a manifest and named arrays in one archive.

This file knows arrays, JSON and checksums; estimators are the matter of :mod:`isrht.models._packing`, and files that of
:mod:`isrht.models._file_access`. A manifest declares all that follows it. Reading compares what is declared with the
number of bytes that are there before it makes arrays, and then the whole file with what would have been written: a
file that differs in one byte is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import re

import numpy as np

import isrht
from isrht.models._zip_format import (
    MANIFEST_NAME,
    archive,
    archive_size,
    crc_and_size,
    local_header,
    local_header_size,
)
from isrht.support.codec import FLOATS, STRINGS, ModelFileError, demand, little_endian
from isrht.support.npy_header import npy_header

FORMAT = "isrht-model"
FORMAT_VERSION = 1
MANIFEST_KEYS = ["format", "format_version", "isrht_version", "about", "model", "members", "sha256"]

MAX_MANIFEST_BYTES = 2**20
NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", *FLOATS)
DTYPE = re.compile("|".join(map(re.escape, NUMBERS)) + r"|<U[1-9]\d{0,5}", re.ASCII)
MEMBER_NAME = re.compile(r"(?:[a-zA-Z]\w{0,99}/){0,4}[a-zA-Z]\w{0,99}", re.ASCII)


# ------------------------------------------------------------ arrays -> bytes


def storable(name, array):
    """Return an array in one piece and little-endian. Fortran order is kept: products in it round differently."""
    dtype = little_endian(array.dtype)
    if dtype == STRINGS:
        strangers = sorted({type(value).__name__ for value in array.flat if type(value) is not str})
        demand(not strangers, f"{name} holds objects that are not strings: {', '.join(strangers)}")
        return array
    demand(DTYPE.fullmatch(dtype), f"{name} is of type {array.dtype}, which a model file cannot hold")
    return np.asarray(array, dtype=dtype, order="F" if is_fortran(array) else "C")


def is_fortran(array):
    """Say whether an array is stored column by column, and that makes a difference."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def describe(node, arrays, about):
    """Return the manifest of a model as bytes, and the members of its archive.

    Parameters
    ----------
    node : dict
        What :func:`isrht.models._packing.pack` says of the estimator.
    arrays : dict
        The arrays by name, all of them :func:`storable`.
    about : dict
        What the user wants to know of the model later.

    Returns
    -------
    manifest : bytes
    members : list of (name, header, data)
    """
    data = [data_of(array) for array in arrays.values()]
    specs = map(spec_of, arrays.values(), data)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "isrht_version": isrht.__version__,
        "about": about,
        "model": node,
        "members": dict(zip(arrays, specs, strict=True)),
    }
    manifest["sha256"] = checksum(manifest, data)
    raw = to_json(manifest)
    demand(len(raw) <= MAX_MANIFEST_BYTES, f"its manifest would have {len(raw)} bytes: too many")
    layouts = [layout(name, spec) for name, spec in manifest["members"].items()]
    return raw, [(name, header, part) for (name, header, _), part in zip(layouts, data, strict=True)]


def data_of(array):
    """Return the bytes of an array; those of strings are a list of JSON."""
    if array.dtype == object:
        return np.frombuffer(json.dumps(array.tolist()).encode("ascii"), dtype=np.uint8)
    return array.ravel(order="A").view(np.uint8)


def spec_of(array, data):
    """Return what the manifest says of an array."""
    if array.dtype == object:
        return {"strings": len(data)}
    return {"dtype": array.dtype.str, "shape": list(array.shape), "fortran_order": is_fortran(array)}


def layout(name, spec):
    """Return the file name of a member, its header, and how many bytes of data follow."""
    if "strings" in spec:
        return f"{name}.json", b"", spec["strings"]
    return f"{name}.npy", npy_header(**spec), np.dtype(spec["dtype"]).itemsize * math.prod(spec["shape"])


def checksum(unsigned_manifest, data):
    """Return the SHA-256 of a manifest that has none yet, followed by the data of the members."""
    digest = hashlib.sha256(to_json(unsigned_manifest))
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def to_json(manifest):
    """Return a manifest as bytes."""
    return json.dumps(manifest, indent=1).encode("ascii")


# ------------------------------------------------------------ bytes -> arrays


def read_manifest(raw):
    """Return the manifest at the beginning of a file, if it is whole and of a version that is known."""
    text = manifest_bytes(raw)
    manifest = from_json(text, "its manifest")
    check_version(manifest)
    expected = [key for key in MANIFEST_KEYS if key in manifest or key != "about"]  # the first files had none
    demand(list(manifest) == expected, f"its manifest has other entries than {', '.join(MANIFEST_KEYS)}")
    demand(isinstance(manifest.get("about", {}), dict), "what its manifest says about the model is no table")
    check_members(manifest["members"])
    demand(text == to_json(manifest), "its manifest is damaged: save would not write it so")
    return manifest


def manifest_bytes(raw):
    """Return the bytes of the manifest, of which the header before it tells the size."""
    start = local_header_size(MANIFEST_NAME)
    demand(len(raw) >= start, f"it is truncated: only {len(raw)} bytes are there")
    head = raw[:start].tobytes()
    crc, size = crc_and_size(head)
    demand(head == local_header(MANIFEST_NAME, size, crc), "it is damaged, or packed by another program")
    demand(size <= MAX_MANIFEST_BYTES, f"its manifest declares {size} bytes, more than {MAX_MANIFEST_BYTES}")
    demand(start + size <= len(raw), f"it is truncated: {len(raw)} bytes do not even hold its manifest")
    return raw[start : start + size].tobytes()


def from_json(raw, what):
    """Return what JSON says, or raise an error that names ``what`` is damaged."""
    try:
        return json.loads(bytes(raw).decode("ascii"))
    except ValueError as error:
        raise ModelFileError(f"{what} is damaged: not JSON ({error})") from None


def check_version(manifest):
    """Demand a manifest of a model file that this version of the package can read."""
    is_ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    demand(is_ours, f"its manifest is not that of a model file: its format is not {FORMAT!r}")
    version = manifest.get("format_version")
    demand(type(version) is int and version >= 1, f"its format version {version!r} is unknown")
    demand(
        version <= FORMAT_VERSION,
        f"it has format version {version}, written by isrht {manifest.get('isrht_version')}, but isrht "
        f"{isrht.__version__} reads up to format version {FORMAT_VERSION} only: install a newer isrht",
    )


def check_members(specs):
    """Demand that every member has a name and a declaration as :func:`spec_of` gives them."""
    demand(isinstance(specs, dict), "its manifest lists no members")
    for name, spec in specs.items():
        demand(MEMBER_NAME.fullmatch(name), f"no member is called {name!r}")
        demand(is_spec(spec), f"no member is declared like {name}: {spec!r}")


def is_spec(spec):
    """Say whether a declaration is of strings, or of an array of a known type and of one or two dimensions."""
    match spec:
        case {"strings": size}:
            return len(spec) == 1 and is_size(size)
        case {"dtype": str(dtype), "shape": [_] | [_, _] as shape, "fortran_order": bool()}:
            return len(spec) == 3 and bool(DTYPE.fullmatch(dtype)) and all(map(is_size, shape))
    return False


def is_size(value):
    """Say whether a value is a number of bytes or elements that a file could have."""
    return type(value) is int and 0 <= value < 2**48


def read_members(raw, manifest):
    """Return the arrays of a file by name, after every byte of the file has been accounted for."""
    specs = manifest["members"]
    layouts = {name: layout(name, spec) for name, spec in specs.items()}
    text = to_json(manifest)
    check_size(len(raw), text, layouts.values())
    data = cut_out(raw, len(text), layouts)
    unsigned = {key: value for key, value in manifest.items() if key != "sha256"}
    damaged = manifest["sha256"] != checksum(unsigned, data.values())
    demand(not damaged, "its checksum is wrong: it was damaged or altered")
    members = [(file_name, header, data[name]) for name, (file_name, header, _) in layouts.items()]
    demand(is_made_of(raw, archive(text, members)), "its archive is damaged: save would not write it so")
    return {name: array_of(name, specs[name], part) for name, part in data.items()}


def check_size(actual, manifest, layouts):
    """Demand that a file has as many bytes as its manifest and the members that it declares take."""
    sizes = ((file_name, len(header) + size) for file_name, header, size in layouts)
    declared = archive_size([(MANIFEST_NAME, len(manifest)), *sizes])
    demand(actual >= declared, f"it is truncated: its arrays need {declared} bytes, but {actual} are there")
    demand(actual <= declared, f"it is {actual - declared} bytes longer than its arrays need")


def cut_out(raw, manifest_size, layouts):
    """Return the data of the members, which are views of the file."""
    position = local_header_size(MANIFEST_NAME) + manifest_size
    data = {}
    for name, (file_name, header, size) in layouts.items():
        position += local_header_size(file_name) + len(header)
        data[name] = raw[position : position + size]
        position += size
    return data


def is_made_of(raw, chunks):
    """Say whether a file is made of these pieces, one after the other, and nothing else."""
    position = 0
    for chunk in chunks:
        if not np.array_equal(raw[position : position + len(chunk)], np.frombuffer(chunk, dtype=np.uint8)):
            return False
        position += len(chunk)
    return position == len(raw)


def array_of(name, spec, data):
    """Return a new array of the bytes of a member."""
    if "strings" in spec:
        strings = from_json(data, name)
        is_list = isinstance(strings, list) and all(type(text) is str for text in strings)
        demand(is_list, f"{name} is not a list of strings")
        return np.array([*strings, None], dtype=object)[:-1]
    dtype = np.dtype(spec["dtype"])
    array = data.copy().view(dtype).reshape(spec["shape"], order="F" if spec["fortran_order"] else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)
