"""The address of an estimator's page in the reference, for the link in its picture in a notebook.

scikit-learn draws an estimator as HTML, with a link that a library of its own gives by ``_doc_link_module`` and
``_doc_link_template`` (its guide for developers describes them). The site may be served anywhere: a release says where
in its metadata (the project's URL "Documentation"), and the variable ``ISRHT_DOCS_URL`` names another copy, one of a
company. Where neither is known there is no link, rather than one that leads nowhere.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import metadata


class DocLinkMixin:
    """Lets the HTML picture of an estimator link to its page of the reference."""

    _doc_link_module = "isrht"

    @property
    def _doc_link_template(self):
        import isrht

        name, site = type(self).__name__, os.environ.get("ISRHT_DOCS_URL") or documented_site()
        if not site or getattr(isrht, name, None) is not type(self):
            return ""
        return f"{site.rstrip('/')}/reference/generated/isrht.{name}.html"


@cache
def documented_site():
    """Return the address of the documentation that the metadata of the installed package tell, or None."""
    try:
        addresses = metadata.metadata("isrht").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(address.split(", ", 1) for address in addresses if ", " in address)
    return named.get("Documentation")
