"""The picture of an estimator in a notebook links to its page, wherever the site is served."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

import isrht
from isrht.linear.classifier import FixedModel
from isrht.support import doc_links

ESTIMATORS = [
    value
    for value in (getattr(isrht, name) for name in isrht.__all__)
    if isinstance(value, type) and issubclass(value, BaseEstimator)
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_links_to_its_page(estimator, monkeypatch):
    monkeypatch.setenv("ISRHT_DOCS_URL", "https://docs.example/isrht/")
    page = f'href="https://docs.example/isrht/reference/generated/isrht.{estimator.__name__}.html"'
    assert page in estimator_html_repr(estimator())


def test_without_a_site_there_is_no_link(monkeypatch):
    monkeypatch.delenv("ISRHT_DOCS_URL", raising=False)
    monkeypatch.setattr(doc_links, "documented_site", lambda: None)
    assert "Documentation for ISRHTClassifier" not in estimator_html_repr(isrht.ISRHTClassifier())
    monkeypatch.setattr(doc_links, "documented_site", lambda: "https://docs.example")
    assert "https://docs.example/reference" in estimator_html_repr(isrht.ISRHTClassifier())


def test_what_has_no_page_has_no_link(monkeypatch):
    monkeypatch.setenv("ISRHT_DOCS_URL", "https://docs.example")

    class Mine(isrht.LinearSVM):
        pass

    for model in (FixedModel(), Mine()):
        assert "docs.example" not in estimator_html_repr(model)


def test_the_address_is_that_of_the_installed_package(monkeypatch):
    class Metadata:
        def get_all(self, name):
            return ["Paper, https://doi.org/1", "Documentation, https://docs.example"]

    monkeypatch.setattr(doc_links.metadata, "metadata", lambda name: Metadata())
    assert doc_links.documented_site.__wrapped__() == "https://docs.example"

    def missing(name):
        raise doc_links.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doc_links.metadata, "metadata", missing)
    assert doc_links.documented_site.__wrapped__() is None
