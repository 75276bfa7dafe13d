"""Servers that accept connections and never answer are given up in time, unless the user has other limits."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from isrht.files import _silence, open_rows
from isrht.files._silence import limits_of_silence
from isrht.files._trouble import RemoteError
from isrht.files.remote import file_system

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def patience(monkeypatch, tmp_path):
    """Let three seconds be enough, and nothing of AWS be configured but a name and a password."""
    monkeypatch.setattr(_silence, "SILENCE", 3.0)
    for name in ("AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    settings = {"ACCESS_KEY_ID": "someone", "SECRET_ACCESS_KEY": "hunter2", "DEFAULT_REGION": "us-east-1"}
    for name, value in (settings | {"CONFIG_FILE": str(tmp_path / "config")}).items():
        monkeypatch.setenv(f"AWS_{name}", value)


@contextmanager
def silent_host():
    """Accept connections and never answer; give the URL, and a list of the connections."""
    connections = []

    def accept():
        while True:
            try:
                connections.append(server.accept()[0])
            except OSError:  # the server was closed
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", connections
        server.shutdown(socket.SHUT_RDWR)
    thread.join()
    for connection in connections:
        connection.close()


@pytest.mark.parametrize(
    ("url", "requests"),
    [("s3://bucket/rows.svm", 1), ("s3://bucket/days/*.svm", 1), ("simplecache::s3://bucket/rows.svm", 2)],
)
def test_a_silent_host_of_s3_is_given_up(url, requests, patience, monkeypatch):
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem.clear_instance_cache()  # it does not know that hosts differ
    with silent_host() as (host, connections):
        monkeypatch.setenv("AWS_ENDPOINT_URL", host)
        start = time.monotonic()
        with pytest.raises(RemoteError, match="cannot be reached: the host did not answer in time"):
            open_rows(url)
        assert time.monotonic() - start < 20
        assert len(connections) <= requests * s3fs.S3FileSystem.retries


def test_s3_waits_as_long_as_the_user_has_set(patience, monkeypatch, tmp_path):
    s3fs = pytest.importorskip("s3fs")

    def options():
        return limits_of_silence("s3://bucket/rows.csv")["s3"]["config_kwargs"]

    each = 3.0 / s3fs.S3FileSystem.retries
    limits = {"connect_timeout": each, "read_timeout": each}
    assert options() == limits | {"retries": {"total_max_attempts": 1}}
    assert file_system("s3a://bucket/rows.csv")[0].config_kwargs["read_timeout"] == each
    own = {"read_timeout": 7, "retries": {"max_attempts": 9}, "max_pool_connections": 2}
    monkeypatch.setitem(fsspec.config.conf, "s3", {"config_kwargs": own})
    assert options() == {"connect_timeout": each, **own}
    monkeypatch.setitem(fsspec.config.conf, "s3", {"config_kwargs": "none of ours"})
    assert limits_of_silence("s3://bucket/rows.csv") == {}
    monkeypatch.delitem(fsspec.config.conf, "s3")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    assert options() == limits
    monkeypatch.delenv("AWS_MAX_ATTEMPTS")
    (tmp_path / "other").write_text("[default]\nretry_mode = adaptive\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "other"))
    assert options() == limits
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert "retries" in options()


def test_google_waits_as_long_as_the_user_has_set(patience, monkeypatch):
    pytest.importorskip("aiohttp")
    (scheme, options), *none = limits_of_silence("gcs://bucket/rows.csv").items()
    assert (scheme, options["requests_timeout"].sock_read, none) == ("gcs", 0.5, [])
    monkeypatch.setitem(fsspec.config.conf, "gs", {"requests_timeout": 7})
    assert limits_of_silence("gs://bucket/rows.csv") == {}


def test_the_host_of_a_chain_has_the_limits():
    pytest.importorskip("aiohttp")
    assert list(limits_of_silence("zip://rows.csv::https://host/rows.zip?next=::s3://bucket")) == ["https"]
    assert limits_of_silence("zip://rows.csv::memory://rows.zip") == {}


def test_limits_of_http_that_the_user_has_set_are_kept(monkeypatch):
    aiohttp = pytest.importorskip("aiohttp")
    url = "https://host/rows.csv"

    def client():
        return file_system(url)[0].client_kwargs

    def configure(**options):
        monkeypatch.setitem(fsspec.config.conf, "https", options)

    assert client()["timeout"] == aiohttp.ClientTimeout(total=None, sock_connect=60, sock_read=60)
    configure(client_kwargs={"trust_env": True})
    assert client()["trust_env"] is True
    assert client()["timeout"].sock_read == 60
    configure(client_kwargs={"timeout": aiohttp.ClientTimeout(total=7)})
    assert client()["timeout"].total == 7

    async def get_client(**options):
        return aiohttp.ClientSession(**options)

    configure(get_client=get_client)
    assert client() == {}
