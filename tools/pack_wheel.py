"""Pack all wheels of a folder as tightly as the format allows, in place: ``python tools/pack_wheel.py FOLDER``.

A wheel is a zip archive, whose members are packed by DEFLATE. zlib looks for short encodings within the time that a
server has; libdeflate, at its highest level, takes a second for a wheel and saves 3 %. Any installer can unpack it.
Nothing but the packing changes: names, their order, dates, permissions and contents stay as they were, and are compared
before the archive takes the place of the old one. Equal wheels become equal bytes.

``make wheel`` and ``make wheels-of-ci`` run this. A wheel that is too large nevertheless ends it.
"""

from __future__ import annotations

import os
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import deflate

LARGEST = 1_200_000
LEVEL = 12
LOCAL, DIRECTORY, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
NEEDED, UTF8 = 20, 0x800


def pack(path):
    """Pack one wheel anew; return how many bytes it had and has."""
    path = Path(path)
    packed = path.with_suffix(".packed")
    try:
        with zipfile.ZipFile(path) as wheel:
            packed.write_bytes(archive(wheel))
            demand_same(wheel, packed)
        sizes = path.stat().st_size, packed.stat().st_size
        os.replace(packed, path)
    finally:
        packed.unlink(missing_ok=True)
    return sizes


def archive(wheel):
    """Return an archive of the members of a wheel. Wheels are far from what 32 bits can say."""
    body, directory = bytearray(), bytearray()
    members = wheel.infolist()
    for member in members:
        name, offset = member.filename.encode(), len(body)
        flags = 0 if name.isascii() else UTF8
        method, data = smallest(wheel.read(member))
        same = (flags, method, *moment(member), member.CRC, len(data), member.file_size, len(name))
        body += LOCAL.pack(b"PK\3\4", NEEDED, *same, 0) + name + data
        made_by = member.create_system << 8 | NEEDED
        directory += DIRECTORY.pack(b"PK\1\2", made_by, NEEDED, *same, 0, 0, 0, 0, member.external_attr, offset) + name
    end = END.pack(b"PK\5\6", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return bytes(body + directory + end)


def smallest(data):
    """Return the method of a member, and its bytes by that method: packed, if that makes them fewer."""
    packed = deflate.deflate_compress(data, LEVEL)
    return (zipfile.ZIP_DEFLATED, packed) if len(packed) < len(data) else (zipfile.ZIP_STORED, data)


def moment(member):
    """Return the time and the day of a member as the format has them."""
    year, month, day, hour, minute, second = member.date_time
    return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day


def demand_same(wheel, path):
    """Compare an archive with the wheel, by other code than wrote it."""
    with zipfile.ZipFile(path) as ours:
        for first, second in zip(wheel.infolist(), ours.infolist(), strict=True):
            for field in ("filename", "date_time", "external_attr", "create_system", "CRC", "file_size"):
                if getattr(first, field) != getattr(second, field):
                    raise SystemExit(f"pack_wheel: {first.filename} would have another {field}")
            if zlib.crc32(ours.read(second)) != first.CRC or wheel.read(first) != ours.read(second):
                raise SystemExit(f"pack_wheel: {first.filename} would have other contents")


def main(folder):
    """Pack all wheels in a folder."""
    wheels = sorted(Path(folder).glob("*.whl"))
    if not wheels:
        raise SystemExit(f"pack_wheel: there is no wheel in {folder}")
    for wheel in wheels:
        before, after = pack(wheel)
        print(f"{wheel.name}: {before:,} bytes became {after:,}")
        if after >= LARGEST:
            raise SystemExit(f"pack_wheel: {wheel.name} has {after:,} bytes, more than {LARGEST:,}")


if __name__ == "__main__":
    main(sys.argv[1])
