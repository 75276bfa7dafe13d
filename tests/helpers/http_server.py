"""A small HTTP server on the loopback that knows ranges, and breaks connections when it is told to."""

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server has, by path, how often to break off, and what it was asked for."""

    def __init__(self, files):
        self.files, self.breaks, self.ranges, self.with_ranges, self.lie = files, 0, [], True, 0
        self.lock = threading.Lock()


@contextmanager
def serving(files):
    """Serve bytes by path; yield the URL of the server and its :class:`Site`."""
    site = Site(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, body):
            data = site.files.get(self.path.partition("?")[0].lstrip("/"))
            if data is None:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start, stop, wanted = 0, len(data), self.headers.get("Range")
            if wanted and site.with_ranges:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, stop = int(first), min(len(data), int(last or len(data)) + 1)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data) + site.lie}")
            else:
                self.send_response(200)
            if site.with_ranges:
                self.send_header("Accept-Ranges", "bytes")
            part = data[start:stop]
            self.send_header("Content-Length", str(len(part) + (0 if wanted else site.lie)))
            self.end_headers()
            if not body:
                return
            with site.lock:
                site.ranges.append((start, stop))
                broken, site.breaks = site.breaks > 0, max(0, site.breaks - 1)
            if broken:
                self.wfile.write(part[: len(part) // 2])
                self.close_connection = True
                return
            self.wfile.write(part)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port():
    """Return a port of the loopback at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
