"""Download a set of the paper from the LIBSVM site, with pooch, and verify it before it is used."""

from __future__ import annotations

from pathlib import Path

from isrht.datasets._verify import MAX_TEXT_BYTES, check_digest, read_verified, remember_digest
from isrht.datasets.folders import download_folder
from isrht.datasets.registry import LIBSVM_SITE

RETRIES = 3


class NotOffered(ValueError):
    """A set that cannot be downloaded."""


def fetch(description, data_dir=None, *, site=LIBSVM_SITE, progress=None, max_bytes=MAX_TEXT_BYTES):
    """Download and verify every file of a set.

    Parameters
    ----------
    description : :class:`~isrht.datasets.registry.Description`
        The set.
    data_dir : path or None, default=None
        The folder to put the files into; None means that of ``ISRHT_DATA``, or else the cache. A file that is there
        already is verified and kept.
    site : str, optional
        Where the files are downloaded from.
    progress : callable or None, default=None
        It is called with the name of a file, and returns a progress bar for pooch.
    max_bytes : int, optional
        How many bytes an archive may unpack to.

    Returns
    -------
    paths : list of path
        The files. A file that is not what it should be is an error, and is removed, so that the next call downloads it
        anew.
    """
    if not description.urls:
        raise NotOffered(_why_not(description))
    folder = download_folder(data_dir)
    return [
        _fetch_one(folder, url, facts, site, progress, max_bytes)
        for url, facts in zip(description.urls, description.facts, strict=True)
    ]


def _fetch_one(folder, url, facts, site, progress, max_bytes):
    import pooch

    name = url.rpartition("/")[2]
    bar = progress(name) if progress else False
    store = pooch.create(
        path=folder,
        base_url=site,
        registry={name: facts.sha256},
        urls={name: site + url},
        retry_if_failed=RETRIES,
    )
    path = Path(store.fetch(name, downloader=pooch.HTTPDownloader(progressbar=bar, timeout=60)))
    try:
        found = check_digest(facts, path)
        read_verified(facts, path, max_bytes)
    except ValueError:
        path.unlink()
        raise
    remember_digest(path, found)
    return path


def _why_not(description):
    if description.embedded:
        return f"{description.name} needs no download: it is embedded"
    return f"{description.name} is a stand-in for {description.stands_for} and is not on the LIBSVM site"
