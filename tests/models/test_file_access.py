"""Where a model file is: at a path or in an open file object. What is none is refused, and named for what it is."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from kept_models import assert_same, fitted_model
from numpy.testing import assert_array_equal

from isrht import load, save
from isrht.models import ModelFileError, read_about


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def foreign_files(mark="mark"):
    image = b"\x89PNG\r\n\x1a\n" + bytes(100)
    arrays, bomb, whole = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(arrays, coef_=np.ones(3))
    np.save(whole, np.ones(3))
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b" " * 10_000_000)
    return {
        "empty": (b"", "it is empty"),
        "text": (b"hello, world\n" * 20, "it is a text file"),
        "short text": (b"hi", "it is a text file"),
        "image": (image, "it is a PNG image"),
        "noise": (bytes(range(256)), "it is a foreign file"),
        "npy": (whole.getvalue(), "it is a single NumPy array"),
        "npz": (arrays.getvalue(), "it is a zip archive .an npz, perhaps., but not a model file"),
        "pickle": (pickle.dumps(Bomb(mark)), "it is a pickle, which this package never loads"),
        "zip bomb": (bomb.getvalue(), "it is damaged, or packed by another program"),
    }


# ------------------------------------------------------------ paths


@pytest.mark.parametrize("kind", foreign_files())
def test_foreign_files_are_refused_by_name(path, kind):
    mark = path.parent / "mark"
    content, message = foreign_files(mark)[kind]
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=rf"cannot load '.*model\.isrht': {message}"):
        load(path)
    assert not mark.exists()


def test_what_is_no_file_is_refused(path, tmp_path):
    with pytest.raises(ModelFileError, match="there is no such file"):
        load(path)
    with pytest.raises(ModelFileError, match="it is a directory"):
        load(str(tmp_path))
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(ModelFileError, match="it is not a regular file"):
            load(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(small):
    path, _ = small
    path.chmod(0)
    with pytest.raises(ModelFileError, match=r"it cannot be read \(Permission denied"):
        load(path)


def test_files_larger_than_allowed_are_refused_unread(small):
    path, _ = small
    size = path.stat().st_size
    load(path, max_bytes=size)
    with pytest.raises(ModelFileError, match=f"it has {size} bytes, more than max_bytes={size - 1}"):
        load(path, max_bytes=size - 1)
    with open(path, "r+b") as file:
        file.truncate(2**42)
    with pytest.raises(ModelFileError, match=f"it has {2**42} bytes, more than max_bytes"):
        load(path)


def test_any_kind_of_path_is_taken(small, monkeypatch):
    path, model = small
    monkeypatch.chdir(path.parent)
    for place in ("relative", b"bytes", path.parent / "path"):
        save(model, place)
        assert_array_equal(load(place).coef_, model.coef_)


def test_a_folder_that_is_not_there_is_named(small, tmp_path):
    _, model = small
    with pytest.raises(OSError, match="there is no folder"):
        save(model, tmp_path / "missing" / "model")


# ------------------------------------------------------------ file objects


@pytest.mark.parametrize("name", ["svm", "classifier cv", "pipeline"])
def test_a_file_object_holds_what_a_file_would(path, name):
    model, buffer = fitted_model(name), io.BytesIO()
    save(model, path, about={"a": 1})
    save(model, buffer, about={"a": 1})
    assert buffer.getvalue() == path.read_bytes()
    buffer.seek(0)
    assert_same(load(buffer), model)
    buffer.seek(0)
    assert read_about(buffer) == read_about(path)
    assert not buffer.closed


@pytest.mark.parametrize("buffering", [0, -1])
def test_open_files_are_written_and_read_from_where_they_stand(path, buffering):
    model = fitted_model("svm")
    with open(path, "wb", buffering=buffering) as file:
        file.write(b"header")
        save(model, file)
        assert not file.closed
    with open(path, "rb", buffering=buffering) as file:
        assert file.read(6) == b"header"
        assert_same(load(file), model)


class Drips(io.RawIOBase):
    """Takes and gives few bytes at a time, as sockets and pipes may."""

    def __init__(self, content=b""):
        self.content = bytearray(content)

    def writable(self):
        return True

    def readable(self):
        return True

    def write(self, data):
        self.content += bytes(data[:100])
        return min(len(data), 100)

    def readinto(self, buffer):
        count = min(len(buffer), 7, len(self.content))
        buffer[:count] = self.content[:count]
        del self.content[:count]
        return count


def test_a_file_object_may_take_and_give_few_bytes_at_once(small):
    path, model = small
    drips = Drips()
    save(model, drips)
    assert drips.content == path.read_bytes()
    assert_same(load(drips), model)
    assert not drips.closed


def test_text_files_are_no_place_for_a_model(small):
    _, model = small
    with pytest.raises(TypeError, match="open in binary mode, this one takes text"):
        save(model, io.StringIO())
    with pytest.raises(TypeError, match="open in binary mode, this one gives text"):
        load(io.StringIO("text"))


def test_what_is_wrong_with_a_file_object_is_said(small):
    path, _ = small
    content = path.read_bytes()
    for bad, message in [
        (b"", r"it is empty, or stands at its end: seek\(0\)"),
        (b"hi", "it is a text file"),
        (content[:-1], "truncated"),
        (content + b"\0", "1 bytes longer"),
        (pickle.dumps([1]), "it is a pickle"),
    ]:
        with pytest.raises(ModelFileError, match=f"cannot load this BytesIO: .*{message}"):
            load(io.BytesIO(bad))
    with pytest.raises(ModelFileError, match="cannot read this BytesIO: it is empty"):
        read_about(io.BytesIO())
    load(io.BytesIO(content), max_bytes=len(content))
    with pytest.raises(ModelFileError, match=f"it has more than max_bytes={len(content) - 1} bytes"):
        load(io.BytesIO(content), max_bytes=len(content) - 1)


def test_an_endless_stream_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    with pytest.raises(ModelFileError, match="it is a foreign file"):
        load(Endless())
