"""The page of a model shows what its file says, escaped, and needs no network and no script."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, save
from isrht.models.inspection import inspect_file
from isrht.report.model_page import model_page

MODELS = {
    "boosted": ISRHTClassifier(4, random_state=0),
    "supervised": ISRHTClassifier(4, selection="supervised", random_state=0),
    "columns": BoostedISRHT(4, random_state=0),
    "svm": LinearSVM(),
    "svm cv": LinearSVMCV([0.1, 1.0]),
    "pipeline": make_pipeline(StandardScaler(), LinearSVMCV([0.1, 1.0])),
}


class Reader(HTMLParser):
    """Reads a page, and demands that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page_of(model, folder, **about):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 6)), columns=["one", "two", "<b>three", "four", "fi&ve", "six"])
    y = np.where(X["one"] + 0.3 * rng.standard_normal(120) > 0, "<script>alert(1)</script>", "no")
    save(model.fit(X, y), folder / "model.isrht", about=about)
    page = model_page(inspect_file(folder / "model.isrht"))
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return page, reader


@pytest.mark.parametrize("name", MODELS)
def test_it_is_a_whole_page_without_script_or_network(name, tmp_path):
    page, reader = page_of(MODELS[name], tmp_path)
    assert "script" not in reader.tags
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert type(MODELS[name]).__name__ in reader.text
    assert "Parameters" in reader.text


def test_it_shows_how_things_were_chosen_and_what_tells(tmp_path):
    page, reader = page_of(MODELS["svm cv"], tmp_path, index_base=1)
    model = MODELS["svm cv"]
    assert f"C = {model.C_:g} was chosen" in reader.text
    assert page.count('class="pt') == 2
    assert f"{model.coef_[0, 0]:+.5g}" in reader.text
    assert "<b>three" in reader.text
    assert "<b>" not in page
    page, reader = page_of(MODELS["boosted"], tmp_path)
    assert f"{MODELS['boosted'].projection_.rounds_} rounds were chosen" in reader.text
    assert "standard, threshold 0" in reader.text
    page, reader = page_of(MODELS["supervised"], tmp_path)
    assert "Scores of columns" in reader.text
