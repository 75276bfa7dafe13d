"""The zip format, as little of it as a model file needs: members in a row, none of them compressed.

:mod:`zipfile` writes dates, and fields that depend on the version of Python. Here every byte follows from the names and
the data, so that equal models give equal files, and a file can be compared with what would have been written.
"""

from __future__ import annotations

import struct
import zlib

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
    """Yield the bytes of an archive, piece by piece.

    Parameters
    ----------
    manifest : bytes
        What comes first.
    members : iterable of (name, header, data)
        Names of files, and the two parts of their contents.
    """
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


def archive_size(sizes):
    """Return the bytes of an archive, from the names and sizes of its members, the manifest first."""
    per_member = LOCAL_FIXED.size + LOCAL_EXTRA.size + DIRECTORY_FIXED.size + DIRECTORY_EXTRA.size
    end = END_64.size + LOCATOR.size + END.size
    return sum(per_member + 2 * len(name) + size for name, size in sizes) + end


def local_header(name, size, crc):
    """Return what stands before the contents of a member."""
    fixed = (VERSION, 0, 0, 0, JANUARY_1980, crc, FULL_32, FULL_32, len(name), LOCAL_EXTRA.size)
    return LOCAL_FIXED.pack(b"PK\3\4", *fixed) + name.encode("ascii") + LOCAL_EXTRA.pack(1, 16, size, size)


def local_header_size(name):
    """Return the bytes of :func:`local_header`."""
    return LOCAL_FIXED.size + len(name) + LOCAL_EXTRA.size


def crc_and_size(header):
    """Return what a :func:`local_header` says of its member."""
    return LOCAL_FIXED.unpack_from(header)[6], LOCAL_EXTRA.unpack(header[-LOCAL_EXTRA.size :])[-1]


def begins_like(header, name):
    """Say whether the first bytes of a file could be the :func:`local_header` of a member of this name.

    The bytes between signature and name are not looked at.
    """
    ours = local_header(name, 0, 0)[: len(header)]
    place = slice(LOCAL_FIXED.size, LOCAL_FIXED.size + len(name))
    return header[:4] == ours[:4] and header[place] == ours[place]


def directory_entry(name, size, crc, offset):
    """Return what the directory at the end of the archive says of a member."""
    common = (VERSION | UNIX, VERSION, 0, 0, 0, JANUARY_1980, crc, FULL_32, FULL_32, len(name))
    fixed = (*common, DIRECTORY_EXTRA.size, 0, 0, 0, READABLE_FILE, FULL_32)
    extra = DIRECTORY_EXTRA.pack(1, 24, size, size, offset)
    return DIRECTORY_FIXED.pack(b"PK\1\2", *fixed) + name.encode("ascii") + extra


def end_of_archive(count, size, offset):
    """Return the last bytes: where the directory begins, how long it is, and how many members it has."""
    end_64 = END_64.pack(b"PK\6\6", 44, VERSION | UNIX, VERSION, 0, 0, count, count, size, offset)
    locator = LOCATOR.pack(b"PK\6\7", 0, offset + size, 1)
    return end_64 + locator + END.pack(b"PK\5\6", 0, 0, FULL_16, FULL_16, FULL_32, FULL_32, 0)
