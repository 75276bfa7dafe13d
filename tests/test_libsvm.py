import bz2
import gzip
import lzma

import numpy as np
import pytest

from isrht.datasets.libsvm import TooLarge, read_libsvm

TEXT = b"1 1:0.5 3:2\n-1 2:1\n"


@pytest.mark.parametrize(
    ("extension", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_plain_and_compressed_text_are_the_same(tmp_path, extension, pack):
    path = tmp_path / f"set{extension}"
    path.write_bytes(pack(TEXT))
    X, y = read_libsvm(path, n_features=4)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1])


def test_an_archive_may_not_unpack_to_more_than_allowed(tmp_path):
    bomb = tmp_path / "bomb.xz"
    bomb.write_bytes(lzma.compress(b"1 1:1\n" * 10**6))
    with pytest.raises(TooLarge, match="bomb.xz unpacks to more than 1,000 bytes"):
        read_libsvm(bomb, max_bytes=1000)


@pytest.mark.parametrize("content", [b"\x00\x01garbage", b"1 3:1 2:1\n", b"1 two:1\n"])
def test_other_content_is_an_error_that_names_the_file(tmp_path, content):
    path = tmp_path / "wrong"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="wrong is not readable as LIBSVM text"):
        read_libsvm(path)


@pytest.mark.parametrize(
    ("extension", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_truncated_archive_is_an_error_that_names_the_file(tmp_path, extension, pack):
    path = tmp_path / f"half{extension}"
    packed = pack(TEXT * 1000)
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match="half.* is not readable"):
        read_libsvm(path)
