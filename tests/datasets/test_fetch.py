"""Downloads from a server of our own: good, flaky, wrong, and too large."""

import bz2
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from isrht.datasets._verify import WrongData
from isrht.datasets.fetch import NotOffered, fetch
from isrht.datasets.registry import KnownFacts, describe

pytest.importorskip("pooch")

TEXT = b"1 1:1\n2 2:1\n1 1:2\n"
SET = replace(describe("mushrooms"), urls=("binary/tiny.bz2",), facts=(KnownFacts(3, 2, 3, {1.0: 2, 2.0: 1}),))


@pytest.fixture
def server(monkeypatch):
    """Serves ``server.content``, after as many failures as ``server.failures`` says."""
    monkeypatch.setattr("time.sleep", lambda _: None)  # pooch waits between retries

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.requests.append(self.path)
            if server.failures:
                server.failures -= 1
                self.send_error(503)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(server.content)))
            self.end_headers()
            self.wfile.write(server.content)

        def log_message(self, *_): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.failures, server.requests = bz2.compress(TEXT), 0, []
    server.site = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_set_is_downloaded_once_and_verified(server, tmp_path):
    (path,) = fetch(SET, tmp_path, site=server.site)
    assert path.read_bytes() == server.content
    assert (tmp_path / "tiny.bz2.sha256").is_file()
    assert fetch(SET, tmp_path, site=server.site) == [path]
    assert server.requests == ["/binary/tiny.bz2"]


def test_failures_of_the_server_are_retried(server, tmp_path):
    server.failures = 2
    fetch(SET, tmp_path, site=server.site)
    assert len(server.requests) == 3


def test_a_server_that_keeps_failing_is_an_error(server, tmp_path):
    server.failures = 100
    with pytest.raises(OSError, match="503"):
        fetch(SET, tmp_path, site=server.site)
    assert list(tmp_path.iterdir()) == []


def test_wrong_content_is_named_and_removed(server, tmp_path):
    server.content = bz2.compress(b"1 1:1\n")
    with pytest.raises(WrongData, match="rows 1, expected 3"):
        fetch(SET, tmp_path, site=server.site)
    assert list(tmp_path.iterdir()) == []
    server.content = bz2.compress(TEXT)
    fetch(SET, tmp_path, site=server.site)


def test_a_decompression_bomb_is_named_and_removed(server, tmp_path):
    with pytest.raises(ValueError, match=r"tiny.bz2, line 1, column 1: the archive unpacks to more than 10 bytes"):
        fetch(SET, tmp_path, site=server.site, max_bytes=10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "why"), [("digits", "embedded"), ("gisette-like", "a stand-in for gisette")])
def test_some_sets_cannot_be_fetched(name, why, tmp_path):
    with pytest.raises(NotOffered, match=why):
        fetch(describe(name), tmp_path)
