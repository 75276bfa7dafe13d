"""What an error of a file system means for a URL is found out here, and whether it is worth another try.

A server that cannot be reached, breaks off or has too much to do is asked a few times before it is named. One that has
no such file, or does not give it, is named at once. What is secret in a URL is in no message.
"""

from __future__ import annotations

import time

from isrht.files.urls import host_of, shown, told

# A read is tried so often, and after each failure waits so many seconds longer.
TRIES, PAUSE = 4, 0.2


class RemoteError(OSError):
    """A server that cannot be reached, or breaks off again and again."""


class NoRemoteFile(RemoteError, FileNotFoundError):
    """A server that has no such file."""


class NoRemoteAccess(RemoteError, PermissionError):
    """A server that does not give a file to those who ask."""


def turns():
    """Yield the number of each try. Whoever asks for the next one waits first, each time longer."""
    for turn in range(1, TRIES + 1):
        yield turn
        time.sleep(PAUSE * turn)


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
    for turn in turns():
        try:
            return ask(*arguments, **options)
        except Exception as error:  # every protocol has errors of its own
            trouble = Trouble(url, error)
            if turn == TRIES or not trouble.may_pass:
                raise trouble.named() from None
    return None


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
        """Whether it is worth another try. Silence has taken long enough, and s3fs has connected again by itself."""
        if self.is_known:
            return False
        if self.status is not None:
            return self.status in (408, 425, 429) or self.status >= 500
        if self.is_silence or any(map(is_of_botocore, self.causes)):
            return False
        return any(map(is_of_connection, self.causes))

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


def is_of_connection(error):
    """Say whether an error is one of the connection, which fsspec may call a file that is not there."""
    return isinstance(error, ConnectionError | TimeoutError) or type(error).__module__.partition(".")[0] == "aiohttp"


def is_of_botocore(error):
    return type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore")
