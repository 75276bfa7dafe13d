"""The journal of finished runs: one line for each, with a checksum of its own.

A process may be killed at any moment, also in the middle of writing a line, and several may write to one journal.
Each line is therefore complete in itself: ``{"checksum": ..., "record": ...}``. A writer takes the lock of the file,
ends the line that a killed process may have left torn, writes its own in one piece and waits until it is on disk. A
reader keeps the lines whose checksum is right and counts the others; nothing is ever rewritten. A finished journal may
be compressed (``xz journal.jsonl``): it is read as it is, and no longer written to.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from dataclasses import dataclass, field
from pathlib import Path

from isrht.support.atomic_writes import sync_folder
from isrht.support.file_errors import errors_that_name
from isrht.support.file_lock import locked

# Windows would otherwise write a carriage return before every line feed.
BINARY = getattr(os, "O_BINARY", 0)


@dataclass
class Contents:
    """What a journal holds: its good ``records``, and the numbers of the lines that were ``damaged``."""

    records: list = field(default_factory=list)
    damaged: list = field(default_factory=list)


class Journal:
    """A file of records, to which records are only ever appended."""

    def __init__(self, path):
        self.path = Path(path)

    @property
    def compressed(self):
        return self.path.suffix == ".xz"

    def append(self, record):
        """Put one record on disk. The process may be killed meanwhile, and others may append to the same file."""
        if self.compressed:
            raise ValueError(f"{self.path} is compressed, and no longer written to: unpack it first")
        line = encode(record)
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | BINARY, 0o644)
        try:
            with locked(descriptor):
                if _last_byte(descriptor) not in (b"", b"\n"):
                    line = b"\n" + line
                with errors_that_name(self.path):  # the error of a full disk names no file
                    _write_all(descriptor, line)
                    os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            sync_folder(self.path.parent)

    def read(self):
        """Return the :class:`Contents` of the file; of several records with one key only the first counts."""
        contents, seen = Contents(), set()
        if not self.path.exists():
            return contents
        for number, line in enumerate(self._bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            record = decode(line)
            if record is None:
                contents.damaged.append(number)
            elif record.get("key") is None or record["key"] not in seen:
                seen.add(record.get("key"))
                contents.records.append(record)
        return contents

    def _bytes(self):
        data = self.path.read_bytes()
        try:
            return lzma.decompress(data) if self.compressed else data
        except lzma.LZMAError as error:
            raise ValueError(f"{self.path}: the archive is damaged ({error})") from error


def encode(record):
    """Return the line of a record, with its checksum and its line feed."""
    text = canonical(record)
    return f'{{"checksum":"{checksum(text)}","record":{text}}}\n'.encode()


def decode(line):
    """Return the record of a line, or None if the line is torn or has been changed."""
    try:
        entry = json.loads(line)
        record = entry["record"]
        return record if entry["checksum"] == checksum(canonical(record)) else None
    except (ValueError, KeyError, TypeError):
        return None


def canonical(value):
    """Return a value as JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def checksum(text):
    """Return the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _last_byte(descriptor):
    if not os.fstat(descriptor).st_size:
        return b""
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1)


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]
