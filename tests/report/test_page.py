import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from sample_records import sample

from isrht.report._page import page
from isrht.report.aggregate import Records


class Outline(HTMLParser):
    """Checks that elements are closed in order, and collects addresses and identifiers."""

    VOID = ("meta", "link", "br", "img", "input", "hr")

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.addresses += [value for name, value in attributes.items() if name in ("href", "src")]
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    return page(Records(sample(), damaged=[7]))


def test_it_is_well_formed_and_needs_no_network(text):
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    for address in outline.addresses:
        assert address == "data:," or address.removeprefix("#") in outline.ids
    assert not re.search(r"https?://|@import|url\(", text)


def test_what_must_not_be_hidden_comes_before_the_numbers(text):
    before = text[: text.index("<table")]
    assert "gisette-like stands in for gisette" in before
    assert "real-sim skipped: no file &lt;here&gt; &amp; there" in before
    assert "1 runs failed" in before
    assert "1 damaged lines" in before
    assert "Deviations from the paper" in text
    assert "errata 7" in text


def test_every_number_leads_to_its_records(text):
    stored = json.loads(re.search(r'id="records">(.*?)</script>', text, re.S).group(1))
    where = [stored["columns"].index(name) for name in ("set", "method", "r", "protocol")]
    known = {"|".join(str(row[k]) for k in where) for row in stored["rows"]}
    groups = set(map(unescape, re.findall(r'data-group="([^"]+)"', text)))
    assert groups
    assert groups <= known


def test_light_dark_phone_and_print(text):
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert 'name="viewport"' in text


def test_an_empty_journal_has_a_page_too():
    assert "No results yet" in page(Records([]))
