"""What servers do when they fail: what may pass is waited for, and what stays is named without secrets."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from http_server import free_port, serving

from isrht.files import _silence, _trouble, open_rows, read_rows
from isrht.files._trouble import RemoteError, Trouble

pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(_trouble, "PAUSE", 0.001)


def test_what_is_not_there_is_named_without_secrets():
    pytest.importorskip("aiohttp")
    with pytest.raises(FileNotFoundError, match="there is no file memory://nowhere/rows.csv"):
        open_rows("memory://nowhere/rows.csv")
    with pytest.raises(ValueError, match="nothing://x/y: Protocol not known: nothing"):
        open_rows("nothing://x/y")
    with serving({}) as (url, _):
        secret = url.replace("://", "://me:hunter2@") + "/none.csv?signature=hunter2"
        with pytest.raises(FileNotFoundError, match=f"there is no file {url}/none.csv$") as caught:
            open_rows(secret)
        assert caught.value.__suppress_context__
    with pytest.raises(OSError, match=r"http://127.0.0.1:\d+/rows.csv cannot be reached") as caught:
        open_rows(f"http://me:hunter2@127.0.0.1:{free_port()}/rows.csv?key=hunter2")
    assert "hunter2" not in str(caught.value)


def test_an_archive_that_is_not_there_is_named_without_secrets():
    pytest.importorskip("aiohttp")
    with (
        serving({}) as (url, _),
        pytest.raises(FileNotFoundError, match=f"there is no file zip://rows.csv::{url}/none.zip$"),
    ):
        open_rows(f"zip://rows.csv::{url}/none.zip?sig=SECRET")


DROPPED, SILENT = 0, -1


@contextmanager
def answering(*answers, data=b"1 1:1\n"):
    """Serve one file to all requests after the first, which get these answers: a status, nothing, or silence."""
    left, done = list(answers), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = left.pop(0) if left else 200
            self.close_connection = True
            if answer == SILENT:
                done.wait(60)
            if answer in (DROPPED, SILENT):
                return
            self.send_response(answer)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET" and answer == 200:
                self.wfile.write(data)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", left
    finally:
        done.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("status", "kind", "problem"),
    [
        (401, PermissionError, r"{url}: access is denied \(401 Unauthorized\)"),
        (403, PermissionError, r"{url}: access is denied \(403 Forbidden\)"),
        (404, FileNotFoundError, "there is no file {url}"),
        (410, FileNotFoundError, "there is no file {url}"),
        (400, RemoteError, r"{url}: the server refused \(400 Bad Request\)"),
        (429, RemoteError, r"{url}: there were too many requests \(429 Too Many Requests\)"),
        (500, RemoteError, r"{url}: the server failed \(500 Internal Server Error\)"),
        (503, RemoteError, r"{url}: the server failed \(503 Service Unavailable\)"),
        (DROPPED, RemoteError, r"{url} cannot be reached \(Server disconnected\)"),
    ],
)
def test_what_a_server_says_at_first_contact_is_named(status, kind, problem):
    pytest.importorskip("aiohttp")
    with answering(*[status] * 99) as (host, left):
        with pytest.raises(kind, match=f"^{problem.format(url=f'{host}/rows.svm')}$"):
            open_rows(f"{host}/rows.svm?sig=SECRET")
        # One try asks for the head and then for the file; aiohttp asks once more for a connection that was dropped.
        tries = _trouble.TRIES if status in (429, 500, 503, DROPPED) else 1
        assert (99 - len(left)) // tries in ((2, 3, 4) if status == DROPPED else (2,))


@pytest.mark.parametrize("status", [429, 503, DROPPED])
def test_what_passes_at_first_contact_is_waited_for(status):
    pytest.importorskip("aiohttp")
    with answering(*[status] * 5) as (host, left):
        X, y, _ = read_rows(f"{host}/rows.svm")
        assert (X.shape, y.tolist(), left) == ((1, 1), [1.0], [])


@pytest.mark.parametrize(("status", "problem"), [(403, "access is denied"), (404, "there is no file")])
def test_what_stays_is_not_tried_again_when_the_file_is_read(status, problem):
    pytest.importorskip("aiohttp")
    with answering(200, 200, 200, *[status] * 9) as (host, left):
        rows = open_rows(f"{host}/rows.svm", n_features=1, index_base=1)
        with pytest.raises(OSError, match=problem):
            list(rows)
        assert len(left) >= 7


def test_errors_of_the_caller_are_not_those_of_the_file():
    aiohttp = pytest.importorskip("aiohttp")
    try:
        raise aiohttp.ClientResponseError(None, (), status=403)
    except aiohttp.ClientResponseError:
        with pytest.raises(FileNotFoundError, match="there is no file memory://nowhere/rows.csv"):
            open_rows("memory://nowhere/rows.csv")


def test_a_host_that_never_answers_is_named(monkeypatch):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(_silence, "SILENCE", 0.2)
    with answering(*[SILENT] * 99) as (host, left):
        start, url = time.monotonic(), f"{host}/rows.svm"
        problem = f"{url} cannot be reached: {host.removeprefix('http://')} did not answer in time"
        with pytest.raises(RemoteError, match=problem):
            open_rows(url)
        assert time.monotonic() - start < 30
        assert len(left) == 97


def test_a_host_that_falls_silent_is_named(monkeypatch):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(_silence, "SILENCE", 1.0)
    with answering(200, 200, 200, *[SILENT] * 99) as (host, _):
        rows = open_rows(f"{host}/rows.svm", n_features=1, index_base=1)
        with pytest.raises(RemoteError, match=f"{host.removeprefix('http://')} did not answer in time"):
            list(rows)


@pytest.mark.parametrize(("status", "passes"), [(400, False), (403, False), (500, True), (503, True)])
def test_what_a_server_of_s3_says_passes_as_by_http(status, passes):
    exceptions = pytest.importorskip("botocore.exceptions")
    said = exceptions.ClientError({"ResponseMetadata": {"HTTPStatusCode": status}}, "GetObject")
    assert Trouble("s3://bucket/rows.svm", said).may_pass == passes
    silence = exceptions.ReadTimeoutError(endpoint_url="http://host")
    assert not Trouble("s3://bucket/rows.svm", silence).may_pass
