"""Files that are reached by a URL, through fsspec: s3://, gs://, https://, memory:// and all that it knows.

A remote file takes the place of a path, as a file object does. It is read range by range. A connection that breaks is
made again where it broke, a few times, and then named; so is a server that has too much to do. How to log in is the
business of fsspec (its configuration, and the environment); a name and password in a URL, and what follows its question
mark, are never shown, nor passed on where an error of others has them in its words.
"""

from __future__ import annotations

import io
import os
import re
import time
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from isrht.files.errors import FileError

# A read is tried so often, and after each failure waits so many seconds longer.
TRIES, PAUSE = 4, 0.2
# A request by HTTP waits so many seconds for a host that is silent. s3fs has limits of its own.
SILENCE = 60
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")
HTTP = ("http://", "https://")
# URLs of these kinds have no query: a question mark is part of a pattern or a name.
WITHOUT_QUERY = ("file://", "local://", "memory://", "zip://", "tar://")
# fsspec makes one URL of several, as in zip://rows.csv::https://host/rows.zip.
LINK = re.compile(r"::(?=[A-Za-z][A-Za-z0-9+.-]*://)")


def is_url(path):
    """Say whether a path is a URL. One letter and a colon is a drive of Windows.

    >>> [is_url(path) for path in ("s3://bucket/rows.csv", "C:\\\\rows.csv", "rows.csv", "simplecache::https://a/b")]
    [True, False, False, True]
    """
    return isinstance(path, str) and URL.match(path) is not None


def local_path(url):
    """Return the path that a file:// URL means, or None if it is another URL.

    >>> local_path("file:///day%201/part-?.csv")
    '/day 1/part-?.csv'
    """
    found = re.fullmatch(r"file://(?:localhost)?(?=/|$)(.*)", url, re.IGNORECASE | re.DOTALL)
    return unquote(found[1]) if found else None


def shown(text):
    """Return a URL without user, password and query, or a text with such URLs in it.

    >>> shown("https://me:secret@host/rows(1).csv?key=(1)&sig=2")
    'https://host/rows(1).csv'
    >>> shown("no https://me:secret@host/rows.csv?key=1 there")
    'no https://host/rows.csv there'
    """
    if is_url(text):
        return "::".join(bare for bare, _, _ in _links(text))
    return _without_secrets(text)


def _without_secrets(text):
    text = re.sub(r"(://)[^/?#\s]*@", r"\1", text)
    return re.sub(r"(://[^\s?#]*)[?#]\S*?(?=['\")\]>,;:.]*(\s|$))", r"\1", text)


def _links(url):
    """Return what may be shown of each link of a URL, and its user and its query, which may not."""
    links = LINK.split(url)
    last = next((number for number, link in enumerate(links, 1) if link.lower().startswith(HTTP)), len(links))
    # What follows a link of HTTP is taken for a part of its query.
    return [_in_parts(link) for link in [*links[: last - 1], "::".join(links[last - 1 :])]]


def _in_parts(link):
    """Return a link as it may be shown, its user and its query."""
    scheme, sign, rest = link.partition("://")
    scheme += sign
    start = _end_of_user(rest)
    user, rest = rest[:start].removesuffix("@"), rest[start:]
    if scheme.lower() in WITHOUT_QUERY:
        return scheme + rest, user, ""
    signs = r"[?#]" if scheme.lower() in HTTP else r"\?"  # a key of S3 may have a #
    path, *query = re.split(signs, rest, maxsplit=1)
    return scheme + path, user, "".join(query)


def _end_of_user(rest):
    """Return where the host begins in what follows the scheme: after the user and the last @ that belongs to it."""
    host = re.match(r"[^/?#]*", rest)[0]
    start = host.rfind("@") + 1
    has_port = re.fullmatch(r"(\[.*\]|[^:]*)(:\d*)?", host[start:])
    # What should be a port and is no number is the beginning of a password that has a /, a ? or a # in it.
    return start if has_port else max(start, rest.rfind("@") + 1)


def told(error, url):
    """Return what an error of others says, without what is secret in the URL, or its name if it says nothing."""
    text = str(error).replace(url, shown(url))
    for secret in sorted(_secrets(url), key=len, reverse=True):
        # What is short may be a part of a word, which would tell what the secret is.
        pattern = re.escape(secret) if len(secret) > 3 else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(pattern, "***", text, flags=re.IGNORECASE)  # %2F may be written as %2f
    return _without_secrets(text).strip() or type(error).__name__


def _secrets(url):
    """Return what is secret in a URL, and its parts, in all ways in which they may be written."""
    found = set()
    for _, user, query in _links(url):
        values = [value for field in re.split("[&;?#]", query) for value in (field, field.partition("=")[2])]
        found |= {user, query, *re.split("[:/?#@]", user), *(value for value in values if len(value) > 3)}
    plain = {read(secret) for secret in found for read in (str, unquote, unquote_plus)}
    return {write(secret) for secret in plain for write in (str, quote, quote_plus, partial(quote, safe=""))} - {""}


class RemoteError(OSError):
    """A server that cannot be reached, or breaks off again and again."""


class NoRemoteFile(RemoteError, FileNotFoundError):
    """A server that has no such file."""


class NoRemoteAccess(RemoteError, PermissionError):
    """A server that does not give a file to those who ask."""


class RemoteFile:
    """A file at a URL, in the place of a path."""

    def __init__(self, url):
        self.url = url

    def __str__(self):
        return shown(self.url)

    def __getstate__(self):
        return {"url": self.url}

    @cached_property
    def _place(self):
        return file_system(self.url)

    @cached_property
    def _info(self):
        system, path = self._place
        return patiently(self.url, system.info, path)

    @property
    def size(self):
        """How many bytes it has, or None if the server does not say."""
        return self._info.get("size")

    @cached_property
    def in_ranges(self):
        """Whether the server gives parts of the file."""
        if not self.url.startswith(HTTP):
            return self.size is not None
        for turn in range(1, TRIES + 1):
            try:
                return self._gives_second_byte()
            except Exception as error:  # every protocol has errors of its own
                refuse_what_stays(self, 1, error, turn)
            time.sleep(PAUSE * turn)
        return False

    def _gives_second_byte(self):
        with self.open_raw() as connection, suppress(ValueError):
            connection.seek(1)
            return bool(connection.read(1)) or self.size == 1
        return False

    def open_raw(self, in_ranges=True):
        """Return a new connection to the file, as fsspec opens it."""
        system, path = self._place
        options = {} if in_ranges else {"block_size": 0}
        return patiently(self.url, system.open, path, "rb", **options)

    def open(self):
        """Return a stream of its bytes that can be searched, and that connects again when it has to."""
        return io.BufferedReader(RemoteStream(self), 2**20)


class RemoteStream(io.RawIOBase):
    """The bytes of a remote file. What fails is tried again, from where it failed."""

    def __init__(self, file):
        self.file, self.place, self.connection, self.in_ranges = file, 0, None, True

    def readable(self):
        return True

    def seekable(self):
        return self.file.size is not None

    def tell(self):
        return self.place

    def seek(self, offset, whence=os.SEEK_SET):
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.file.size}[whence]
        self._move(start + offset)
        return self.place

    def _move(self, place):
        if place != self.place:
            self.place = place
            self._disconnect()

    def readinto(self, buffer):
        data = self._read(len(buffer))
        if not data and self.file.size is not None and self.place < self.file.size and len(buffer):
            raise FileError(self.file, f"it ended after {self.place:,} of {self.file.size:,} bytes")
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)

    def _read(self, count):
        for turn in range(1, TRIES + 1):
            try:
                if self.connection is None:
                    self._connect()
                data = self.connection.read(count)
                short = not data and self.file.size is not None and self.place < self.file.size
                if not short or turn == TRIES:
                    return data
            except Exception as error:  # every protocol has errors of its own
                # A server without ranges is read from the beginning, and what was read before is skipped.
                self.in_ranges = self.in_ranges and not (isinstance(error, ValueError) and "range" in str(error))
                refuse_what_stays(self.file, self.place, error, turn)
            self._disconnect()
            time.sleep(PAUSE * turn)
        return b""

    def _connect(self):
        self.connection = self.file.open_raw() if self.in_ranges else self.file.open_raw(in_ranges=False)
        if not self.place:
            return
        if getattr(self.connection, "seekable", lambda: False)():
            self.connection.seek(self.place)
            return
        left = self.place  # a server without ranges sends everything from the beginning
        while left:
            skipped = self.connection.read(min(left, 2**20))
            if not skipped:
                raise OSError("the file has become shorter")
            left -= len(skipped)

    def _disconnect(self):
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # it may be broken, which is why it is closed
                connection.close()

    def close(self):
        if not self.closed:
            self._disconnect()
        super().close()


def refuse_what_stays(file, place, error, turn):
    """Raise the error that a failed read means, if it will not pass or has been tried often enough."""
    trouble = Trouble(file.url, error)
    if trouble.is_known:
        raise trouble.named() from None
    if turn == TRIES:
        problem = f"the connection broke at byte {place:,}, {TRIES} times ({trouble.words()})"
        raise RemoteError(f"{file}: {problem}") from None


def patiently(url, ask, *arguments, **options):
    """Return what a server answers. Trouble that may pass is waited for, as long as in the midst of a file."""
    for turn in range(1, TRIES + 1):
        try:
            return ask(*arguments, **options)
        except Exception as error:  # every protocol has errors of its own
            trouble = Trouble(url, error)
            if turn == TRIES or not trouble.may_pass:
                raise trouble.named() from None
        time.sleep(PAUSE * turn)
    return None


def find(url):
    """Return the remote files that a URL means: one file, those that match a pattern, or all in a folder, in order."""
    system, path = file_system(url)
    if path.startswith(HTTP):  # a question mark is no pattern there, and there are no folders
        patiently(url, system.info, path)
        return [RemoteFile(url)]
    if any(sign in path for sign in "*?["):
        found, none = patiently(url, system.glob, path), "no file matches"
    elif patiently(url, _is_folder, system, path):
        found, none = patiently(url, system.find, path), "there are no files in the folder"
        found = [name for name in found if not is_hidden(name[len(path) :])]
    else:
        patiently(url, system.info, path)
        return [RemoteFile(url)]
    if not found:
        raise NoRemoteFile(f"{none} {shown(url)}")
    return [RemoteFile(system.unstrip_protocol(name)) for name in sorted(found)]


def _is_folder(system, path):
    return system.isdir(path) and not system.isfile(path)


def is_hidden(path):
    """Say whether a part of a path begins as those do which tools write beside data: ``_SUCCESS``, ``.crc``."""
    return any(part.startswith((".", "_")) and "=" not in part for part in Path(path).parts)


def file_system(url):
    """Return the file system of fsspec and the path in it that a URL means."""
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "files at a URL need fsspec, which is not installed: pip install 'isrht[remote]'", name="fsspec"
        ) from error
    try:
        return url_to_fs(url, **limits_of_silence(url))
    except ImportError as error:
        raise ModuleNotFoundError(f"{shown(url)}: {told(error, url)}", name=error.name) from None
    except ValueError as error:
        raise ValueError(f"{shown(url)}: {told(error, url)}") from None
    except Exception as error:  # an archive within a URL is opened here
        raise Trouble(url, error).named() from None


def limits_of_silence(url):
    """Return the options that limit how long HTTP waits, unless fsspec's configuration has a client of its own."""
    scheme = next((link.partition("://")[0] for link in LINK.split(url) if link.startswith(HTTP)), None)
    if scheme is None:
        return {}
    from fsspec.config import conf

    configured = {**conf.get("http", {}), **conf.get("https", {})}
    client = configured.get("client_kwargs") or {}
    if "get_client" in configured or not isinstance(client, dict) or "timeout" in client:
        return {}
    try:
        from aiohttp import ClientTimeout
    except ImportError:  # fsspec says what is missing
        return {}
    timeout = ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {scheme: {"client_kwargs": {**client, "timeout": timeout}}}


class Trouble:
    """What an error of a file system means for a URL. The errors that caused it tell more than its kind.

    fsspec says of whatever happens at the first contact by HTTP that a file was not found.
    """

    def __init__(self, url, error):
        self.url, self.error = url, error
        self.causes = [error]
        # Not __context__: it may be an error of the caller's own, who asks here because of it.
        while (cause := self.causes[-1].__cause__) is not None and cause not in self.causes:
            self.causes.append(cause)
        self.status = next((status for status in map(status_of, self.causes) if status is not None), None)

    @property
    def is_missing(self):
        """Whether there is no file."""
        if self.status is not None:
            return self.status in (404, 410)
        by_lookup = (FileNotFoundError, LookupError)
        return isinstance(self.error, FileNotFoundError) and all(isinstance(cause, by_lookup) for cause in self.causes)

    @property
    def is_denied(self):
        """Whether there may be a file, but not for those who ask."""
        return isinstance(self.error, PermissionError) or self.status in (401, 403)

    @property
    def is_known(self):
        """Whether it is no trouble of the connection, or one that has been named."""
        return isinstance(self.error, RemoteError) or self.is_missing or self.is_denied

    @property
    def is_silence(self):
        """Whether a host has not answered in time."""
        return any(isinstance(error, TimeoutError) or "Timeout" in type(error).__name__ for error in self.causes)

    @property
    def may_pass(self):
        """Whether it is worth another try. Silence has taken long enough, and botocore has tried again by itself."""
        if self.is_known or any(map(is_of_botocore, self.causes)):
            return False
        if self.status is not None:
            return self.status in (408, 425, 429) or self.status >= 500
        return any(map(is_of_connection, self.causes)) and not self.is_silence

    def named(self):
        """Return the error that names the URL, without what is secret in it."""
        if isinstance(self.error, RemoteError):
            return self.error
        name = shown(self.url)
        if self.is_missing:
            return NoRemoteFile(f"there is no file {name}")
        if self.is_denied:
            return NoRemoteAccess(f"{name}: access is denied ({self.words()})")
        return RemoteError(f"{name}{self._problem()} ({self.words()})")

    def _problem(self):
        if self.status is not None and self.status >= 500:
            return ": the server failed"
        if self.status is not None:
            return ": there were too many requests" if self.status == 429 else ": the server refused"
        if self.is_silence:
            return f" cannot be reached: {host_of(self.url)} did not answer in time"
        return " cannot be reached"

    def words(self):
        """Return what the error says, or what caused it."""
        for error in self.causes:
            if status_of(error) is not None and isinstance(getattr(error, "message", None), str):  # its text has URLs
                return told(f"{self.status} {error.message}".strip(), self.url)
        return told(self.error.__cause__ or self.error, self.url)


def status_of(error):
    """Return the number by which a server said what is wrong, as errors of aiohttp, botocore and others have it."""
    return next((number for number in _numbers(error) if isinstance(number, int) and 400 <= number < 600), None)


def _numbers(error):
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        yield response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    for place in (error, response):
        for name in ("status", "status_code", "code"):  # aiohttp warns of those who ask for its code
            yield getattr(place, name, None)


def host_of(url):
    """Return the host of the last link of a URL that names one."""
    link = _links(url)[-1][0]
    host = link.partition("://")[2].partition("/")[0]
    return host if host and link.startswith(HTTP) else "the host"


def is_of_connection(error):
    """Say whether an error is one of the connection, which fsspec may call a file that is not there."""
    return isinstance(error, ConnectionError | TimeoutError) or type(error).__module__.partition(".")[0] == "aiohttp"


def is_of_botocore(error):
    return type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore")
