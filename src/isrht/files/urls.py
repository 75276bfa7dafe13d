"""A URL is told from a path here, and shown without what is secret in it.

Its user and password are secret, and what follows its question mark: they are never shown, nor passed on where an error
of others has them in its words.
"""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import quote, quote_plus, unquote, unquote_plus

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


def host_of(url):
    """Return the host of the last link of a URL that names one."""
    link = _links(url)[-1][0]
    host = link.partition("://")[2].partition("/")[0]
    return host if host and link.startswith(HTTP) else "the host"
