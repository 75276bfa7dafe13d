"""An archive must be one to every zip tool, and as long as it was said to be."""

import io
import zipfile

import pytest

from isrht.models._zip_format import (
    MANIFEST_NAME,
    archive,
    archive_size,
    begins_like,
    crc_and_size,
    local_header,
    local_header_size,
)

MEMBERS = [("a.npy", b"header", b"data"), ("part/b.json", b"", b"[]"), ("empty.npy", b"", b"")]


@pytest.mark.parametrize("members", [[], MEMBERS[:1], MEMBERS])
def test_zip_tools_read_an_archive(members):
    content = b"".join(archive(b"{}", members))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        assert file.namelist() == [MANIFEST_NAME, *(name for name, *_ in members)]
        assert file.read(MANIFEST_NAME) == b"{}"
        for name, header, data in members:
            assert file.read(name) == header + data
            assert file.getinfo(name).compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize("members", [[], MEMBERS[:1], MEMBERS])
def test_the_size_is_known_before(members):
    sizes = [(MANIFEST_NAME, 2), *((name, len(header) + len(data)) for name, header, data in members)]
    assert len(b"".join(archive(b"{}", members))) == archive_size(sizes)


def test_a_header_says_what_follows():
    header = local_header("name", 2**40, 12345)
    assert len(header) == local_header_size("name")
    assert crc_and_size(header) == (12345, 2**40)


def test_only_the_header_of_a_manifest_begins_like_one():
    content = b"".join(archive(b"{}", []))
    assert begins_like(content[:100], MANIFEST_NAME)
    assert begins_like(content[:5], MANIFEST_NAME)
    assert not begins_like(b"".join(archive(b"{}", [])).replace(b"manifest", b"anything")[:100], MANIFEST_NAME)
    assert not begins_like(b"text", MANIFEST_NAME)
