"""How long a server may be silent: a request waits about a minute in all its tries, unless the user says otherwise.

By themselves gcsfs would wait for ever, and s3fs for seven minutes: it tries a request five times, in each of which
botocore tries it five times. What the user has configured, by fsspec's own ways or those of AWS, is left as it is.
"""

from __future__ import annotations

import os
from functools import cache

from isrht.files.urls import LINK

# A request waits so many seconds for a host that is silent, in all of its tries together.
SILENCE = 60
# gcsfs tries a request so often.
TRIES_OF_GCSFS = 6


def limits_of_silence(url):
    """Return the options of fsspec, by protocol, that limit how long the servers of a URL may be silent."""
    for link in LINK.split(url):
        scheme = link.partition("://")[0]
        if scheme in LIMITS:
            options = LIMITS[scheme]()
            return {scheme: options} if options else {}
    return {}


def _of_http():
    """Return the options for HTTP, unless fsspec's configuration has a client of its own."""
    configured = _configured("http", "https")
    client = configured.get("client_kwargs") or {}
    if "get_client" in configured or not isinstance(client, dict) or "timeout" in client:
        return {}
    timeout = _timeout_of_aiohttp(SILENCE)
    return {} if timeout is None else {"client_kwargs": {**client, "timeout": timeout}}


def _of_s3():
    """Return the options for s3fs, whose own tries share the time; botocore then tries only once in each of them."""
    try:
        from s3fs import S3FileSystem
    except ImportError:  # fsspec says what is missing
        return {}
    configured = _configured("s3", "s3a")
    given = configured.get("config_kwargs") or {}
    if not isinstance(given, dict):
        return {}
    limits = dict.fromkeys(("connect_timeout", "read_timeout"), SILENCE / S3FileSystem.retries)
    if not _tries_are_configured(configured.get("profile")):
        limits["retries"] = {"total_max_attempts": 1}
    return {"config_kwargs": {**limits, **given}}


def _of_google():
    """Return the options for gcsfs, unless fsspec's configuration has them. Its pauses cannot be made shorter."""
    if "requests_timeout" in _configured("gs", "gcs"):
        return {}
    timeout = _timeout_of_aiohttp(SILENCE / TRIES_OF_GCSFS)
    return {} if timeout is None else {"requests_timeout": timeout}


LIMITS = {"http": _of_http, "https": _of_http, "s3": _of_s3, "s3a": _of_s3, "gs": _of_google, "gcs": _of_google}


def _configured(*schemes):
    from fsspec.config import conf

    return {name: value for scheme in schemes for name, value in conf.get(scheme, {}).items()}


def _timeout_of_aiohttp(seconds):
    """Return a limit of the silence of a host, but not of how long a file may take; None if aiohttp is missing."""
    try:
        from aiohttp import ClientTimeout
    except ImportError:  # fsspec says what is missing
        return None
    return ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)


def _tries_are_configured(profile):
    """Say whether AWS's own environment or files tell how often a request is tried."""
    if "AWS_MAX_ATTEMPTS" in os.environ or "AWS_RETRY_MODE" in os.environ:
        return True
    options = _options_of_profile(profile or os.environ.get("AWS_PROFILE"), os.environ.get("AWS_CONFIG_FILE"))
    return "max_attempts" in options or "retry_mode" in options


@cache
def _options_of_profile(profile, config_file):
    """Return what the files of AWS say; they take milliseconds to read, and are asked for every file of a folder."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        return Session(profile=profile).get_scoped_config()
    except BotoCoreError:  # s3fs says what is wrong with them
        return {}
