"""The bytes of a model file: a manifest and named arrays in one stored zip archive, written whole or not at all.

This file knows arrays, JSON, zip and the file system; estimators are the matter of :mod:`isrht.models.model_file`. Every
byte follows from the manifest and the arrays, so that a file can be compared with what would be written.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import secrets
import shutil
import stat
import struct
import zlib
from contextlib import contextmanager, suppress

import numpy as np

import isrht
from isrht.support.file_errors import errors_that_name

FORMAT = "isrht-model"
FORMAT_VERSION = 1

MAX_MANIFEST_BYTES = 2**20
FLOATS = ("<f4", "<f8")
STRINGS = "|O"
NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", *FLOATS)
DTYPE = re.compile("|".join(map(re.escape, NUMBERS)) + r"|<U[1-9]\d{0,5}", re.ASCII)
MEMBER_NAME = re.compile(r"(?:[a-zA-Z]\w{0,99}/){0,4}[a-zA-Z]\w{0,99}", re.ASCII)


class ModelFileError(ValueError):
    """The file is no whole, consistent model of this package, or a model cannot become one; says why."""


def demand(condition, otherwise):
    if not condition:
        raise ModelFileError(otherwise)


def storable(name, array):
    """The array in one piece and little-endian. Fortran order is kept: products in it round differently."""
    dtype = little_endian(array.dtype)
    if dtype == STRINGS:
        strangers = sorted({type(value).__name__ for value in array.flat if type(value) is not str})
        demand(not strangers, f"{name} holds objects that are not strings: {', '.join(strangers)}")
        return array
    demand(DTYPE.fullmatch(dtype), f"{name} is of type {array.dtype}, which a model file cannot hold")
    return np.asarray(array, dtype=dtype, order="F" if is_fortran(array) else "C")


def is_fortran(array):
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def little_endian(dtype):
    # NumPy's newer types have no byte order to ask for, and no place in a file.
    return dtype.newbyteorder("<").str if dtype.kind in "biufUO" else dtype.str


# ------------------------------------------------------------ manifest and arrays <-> bytes


def describe(node, arrays, about):
    """The signed manifest as bytes, and the members: by file name, header and data."""
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
    if array.dtype == object:
        return np.frombuffer(json.dumps(array.tolist()).encode("ascii"), dtype=np.uint8)
    return array.ravel(order="A").view(np.uint8)


def spec_of(array, data):
    if array.dtype == object:
        return {"strings": len(data)}
    return {"dtype": array.dtype.str, "shape": list(array.shape), "fortran_order": is_fortran(array)}


def layout(name, spec):
    """A member's file name, its header, and how many bytes of data follow."""
    if "strings" in spec:
        return f"{name}.json", b"", spec["strings"]
    return f"{name}.npy", npy_header(**spec), np.dtype(spec["dtype"]).itemsize * math.prod(spec["shape"])


def npy_header(dtype, shape, fortran_order):
    """As ``numpy.save`` writes it, in version 1.0 of its format."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': {fortran_order}, 'shape': {tuple(shape)}, }}"
    length = -(-(10 + len(text) + 1) // 64) * 64 - 10
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.ljust(length - 1).encode("ascii") + b"\n"


def checksum(unsigned_manifest, data):
    digest = hashlib.sha256(to_json(unsigned_manifest))
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def to_json(manifest):
    return json.dumps(manifest, indent=1).encode("ascii")


def from_json(raw, what):
    try:
        return json.loads(bytes(raw).decode("ascii"))
    except ValueError as error:
        raise ModelFileError(f"{what} is damaged: not JSON ({error})") from None


def read_manifest(raw):
    """The manifest at the beginning of a file, if it is of a version that is known."""
    start = local_header_size(MANIFEST_NAME)
    demand(len(raw) >= start, f"it is truncated: only {len(raw)} bytes are there")
    head = raw[:start].tobytes()
    crc, size = LOCAL_FIXED.unpack_from(head)[6], LOCAL_EXTRA.unpack(head[-LOCAL_EXTRA.size :])[-1]
    demand(head == local_header(MANIFEST_NAME, size, crc), "it is damaged, or packed by another program")
    demand(size <= MAX_MANIFEST_BYTES, f"its manifest declares {size} bytes, more than {MAX_MANIFEST_BYTES}")
    demand(start + size <= len(raw), f"it is truncated: {len(raw)} bytes do not even hold its manifest")
    text = raw[start : start + size].tobytes()
    manifest = from_json(text, "its manifest")
    check_version(manifest)
    expected = [key for key in MANIFEST_KEYS if key in manifest or key != "about"]  # the first files had none
    demand(list(manifest) == expected, f"its manifest has other entries than {', '.join(MANIFEST_KEYS)}")
    demand(isinstance(manifest.get("about", {}), dict), "what its manifest says about the model is no table")
    check_members(manifest["members"])
    demand(text == to_json(manifest), "its manifest is damaged: save would not write it so")
    return manifest


MANIFEST_KEYS = ["format", "format_version", "isrht_version", "about", "model", "members", "sha256"]


def check_version(manifest):
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
    demand(isinstance(specs, dict), "its manifest lists no members")
    for name, spec in specs.items():
        demand(MEMBER_NAME.fullmatch(name), f"no member is called {name!r}")
        demand(is_spec(spec), f"no member is declared like {name}: {spec!r}")


def is_spec(spec):
    match spec:
        case {"strings": size}:
            return len(spec) == 1 and is_size(size)
        case {"dtype": str(dtype), "shape": [_] | [_, _] as shape, "fortran_order": bool()}:
            return len(spec) == 3 and bool(DTYPE.fullmatch(dtype)) and all(map(is_size, shape))
    return False


def is_size(value):
    return type(value) is int and 0 <= value < 2**48


def read_members(raw, manifest):
    """The arrays of a file, every byte of which has been accounted for."""
    specs = manifest["members"]
    layouts = {name: layout(name, spec) for name, spec in specs.items()}
    text = to_json(manifest)
    check_size(len(raw), archive_size(len(text), layouts.values()))
    position = local_header_size(MANIFEST_NAME) + len(text)
    data = {}
    for name, (file_name, header, size) in layouts.items():
        position += local_header_size(file_name) + len(header)
        data[name] = raw[position : position + size]
        position += size
    unsigned = {key: value for key, value in manifest.items() if key != "sha256"}
    damaged = manifest["sha256"] != checksum(unsigned, data.values())
    demand(not damaged, "its checksum is wrong: it was damaged or altered")
    members = [(file_name, header, data[name]) for name, (file_name, header, _) in layouts.items()]
    demand(is_made_of(raw, archive(text, members)), "its archive is damaged: save would not write it so")
    return {name: array_of(name, specs[name], part) for name, part in data.items()}


def check_size(actual, declared):
    demand(actual >= declared, f"it is truncated: its arrays need {declared} bytes, but {actual} are there")
    demand(actual <= declared, f"it is {actual - declared} bytes longer than its arrays need")


def is_made_of(raw, chunks):
    position = 0
    for chunk in chunks:
        if not np.array_equal(raw[position : position + len(chunk)], np.frombuffer(chunk, dtype=np.uint8)):
            return False
        position += len(chunk)
    return position == len(raw)


def array_of(name, spec, data):
    """A new array of these bytes."""
    if "strings" in spec:
        strings = from_json(data, name)
        is_list = isinstance(strings, list) and all(type(text) is str for text in strings)
        demand(is_list, f"{name} is not a list of strings")
        return np.array([*strings, None], dtype=object)[:-1]
    dtype = np.dtype(spec["dtype"])
    array = data.copy().view(dtype).reshape(spec["shape"], order="F" if spec["fortran_order"] else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)


# ------------------------------------------------------------ the zip format, as little as serves

MANIFEST_NAME = "manifest.json"

# All sizes are in the 64-bit extension, and the fields that they replace are full: one layout for all sizes.
FULL_16, FULL_32 = 0xFFFF, 0xFFFFFFFF
VERSION, UNIX = 45, 3 << 8
JANUARY_1980 = 0x21
READABLE_FILE = 0o100644 << 16
LOCAL_FIXED, LOCAL_EXTRA = struct.Struct("<4s5H3I2H"), struct.Struct("<2H2Q")
DIRECTORY_FIXED, DIRECTORY_EXTRA = struct.Struct("<4s6H3I5H2I"), struct.Struct("<2H3Q")
END_64, LOCATOR, END = struct.Struct("<4sQ2H2I4Q"), struct.Struct("<4sIQI"), struct.Struct("<4s4H2IH")


def archive(manifest, members):
    """The chunks of a zip of the manifest and the members (name, header, data), none of them compressed."""
    directory, offset = [], 0
    for name, header, data in ((MANIFEST_NAME, b"", manifest), *members):
        size, crc = len(header) + len(data), zlib.crc32(data, zlib.crc32(header))
        directory.append(directory_entry(name, size, crc, offset))
        yield local_header(name, size, crc)
        yield header
        yield data
        offset += local_header_size(name) + size
    yield b"".join(directory)
    yield end_of_archive(len(directory), sum(map(len, directory)), offset)


def local_header(name, size, crc):
    fixed = (VERSION, 0, 0, 0, JANUARY_1980, crc, FULL_32, FULL_32, len(name), LOCAL_EXTRA.size)
    return LOCAL_FIXED.pack(b"PK\3\4", *fixed) + name.encode("ascii") + LOCAL_EXTRA.pack(1, 16, size, size)


def directory_entry(name, size, crc, offset):
    common = (VERSION | UNIX, VERSION, 0, 0, 0, JANUARY_1980, crc, FULL_32, FULL_32, len(name))
    fixed = (*common, DIRECTORY_EXTRA.size, 0, 0, 0, READABLE_FILE, FULL_32)
    extra = DIRECTORY_EXTRA.pack(1, 24, size, size, offset)
    return DIRECTORY_FIXED.pack(b"PK\1\2", *fixed) + name.encode("ascii") + extra


def end_of_archive(count, size, offset):
    end_64 = END_64.pack(b"PK\6\6", 44, VERSION | UNIX, VERSION, 0, 0, count, count, size, offset)
    locator = LOCATOR.pack(b"PK\6\7", 0, offset + size, 1)
    return end_64 + locator + END.pack(b"PK\5\6", 0, 0, FULL_16, FULL_16, FULL_32, FULL_32, 0)


def local_header_size(name):
    return LOCAL_FIXED.size + len(name) + LOCAL_EXTRA.size


def archive_size(manifest_size, layouts):
    sizes = [(MANIFEST_NAME, manifest_size), *((name, len(header) + size) for name, header, size in layouts)]
    per_member = LOCAL_FIXED.size + LOCAL_EXTRA.size + DIRECTORY_FIXED.size + DIRECTORY_EXTRA.size
    end = END_64.size + LOCATOR.size + END.size
    return sum(per_member + 2 * len(name) + size for name, size in sizes) + end


# ------------------------------------------------------------ files

# How much is read from a file object at once.
PIECE = 2**20
FOREIGN = {
    b"\x80": "a pickle, which this package never loads",
    b"PK": "a zip archive (an npz, perhaps), but not a model file",
    b"\x93NUMPY": "a single NumPy array, not a model file",
    b"\x89PNG": "a PNG image, not a model file",
    b"\x89HDF": "an HDF5 file, not a model file",
    b"\x1f\x8b": "a gzip file, not a model file",
    b"x\x9c": "a zlib stream (of joblib, perhaps), not a model file",
}


def called(file):
    """Return what errors call a file: its path, or the class of a file object."""
    return f"this {type(file).__name__}" if is_file_object(file) else repr(os.fsdecode(file))


def is_file_object(file):
    return hasattr(file, "read") or hasattr(file, "write")


def read_model_file(file, max_bytes):
    """Return the bytes of a file that begins like a model file, and is given by its path or open."""
    return read_to_end(file, max_bytes) if is_file_object(file) else read_path(file, max_bytes)


def read_to_end(file, max_bytes):
    """Return the bytes of a file object from where it stands. It may give fewer at once than it is asked for."""
    content, head = bytearray(), local_header_size(MANIFEST_NAME)
    while piece := file.read(PIECE):
        if isinstance(piece, str):
            raise TypeError("a model is read from a file object that is open in binary mode, this one gives text")
        seen = len(content)
        content += piece
        if seen < head <= len(content):
            check_beginning(bytes(content[:head]))
        demand(len(content) <= max_bytes, f"it has more than max_bytes={max_bytes} bytes")
    demand(content, "it is empty, or stands at its end: seek(0) goes back to its beginning")
    check_beginning(bytes(content[:head]))
    return np.frombuffer(content, dtype=np.uint8)


def read_path(path, max_bytes):
    try:
        is_folder, is_file = os.path.isdir(path), stat.S_ISREG(os.stat(path).st_mode)
        demand(is_file, "it is a directory" if is_folder else "it is not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            demand(size > 0, "it is empty")
            check_beginning(file.read(local_header_size(MANIFEST_NAME)))
            demand(size <= max_bytes, f"it has {size} bytes, more than max_bytes={max_bytes}")
            file.seek(0)
            return np.fromfile(file, dtype=np.uint8, count=size)
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be read ({error.strerror})") from error


def check_beginning(head):
    """Say what a file is that is none of ours."""
    ours = local_header(MANIFEST_NAME, 0, 0)[: len(head)]
    name = slice(LOCAL_FIXED.size, LOCAL_FIXED.size + len(MANIFEST_NAME))
    if head[:4] == ours[:4] and head[name] == ours[name]:
        return
    for signature, kind in FOREIGN.items():
        demand(not head.startswith(signature), f"it is {kind}")
    is_text = not set(head) & (set(range(32)) - set(b"\t\n\f\r"))
    kind = "a text file" if is_text else "a foreign file"
    raise ModelFileError(f"it is {kind}, not a model file: it begins with {head[:16]!r}")


@contextmanager
def opened_for_writing(file):
    """Yield a file to write bytes to: the object that is given, or a new one that replaces a path once it is whole."""
    if not is_file_object(file):
        with replaced_when_whole(file) as opened:
            yield opened
    elif isinstance(file, io.TextIOBase):
        raise TypeError("a model is written to a file object that is open in binary mode, this one takes text")
    elif isinstance(file, io.RawIOBase):  # which may take fewer bytes than it is given
        buffered = io.BufferedWriter(file)
        try:
            yield buffered
        finally:
            buffered.detach()
    else:
        yield file


@contextmanager
def replaced_when_whole(path):
    """A file to write to, which takes the place of ``path`` once it is on disk, or leaves no trace."""
    target = os.path.realpath(os.fsdecode(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{os.fsdecode(path)} cannot be written: there is no folder {folder}")
    if os.path.exists(target) and not os.path.isfile(target):
        with open_to_write(target, "wb", path) as file:  # a device or a pipe is written to, never replaced
            yield file
        return
    temporary = os.path.join(folder, f".isrht-{secrets.token_hex(8)}.tmp")
    try:
        with open_to_write(temporary, "xb", path, f" (a new file cannot be made in {folder})") as file:
            yield file
            file.flush()
            with errors_that_name(path):
                os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        with errors_that_name(path):
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def open_to_write(file, mode, path, more=""):
    """A buffered file whose errors name ``path``: the system names a temporary file, or, of a full disk, none."""
    with errors_that_name(path, more):
        return io.BufferedWriter(NamedFile(file, mode, path))


class NamedFile(io.FileIO):
    def __init__(self, file, mode, path):
        super().__init__(file, mode)
        self.path = path

    def write(self, data):
        with errors_that_name(self.path):
            return super().write(data)


def sync_folder(folder):
    """Make a rename last through a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
