"""The pickle, loaded where isrht cannot be imported."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from exported_models import LABELS, MODELS, as_csr, fitted, make_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from isrht import ISRHTClassifier, LinearSVM
from isrht.export import export_model

ELSEWHERE = """
import pickle, sys
import numpy as np
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "isrht":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
for pair in sys.argv[1:]:
    model = pickle.load(open(pair + ".pkl", "rb"))
    X = np.load(pair + ".X.npy")
    proba = model.isrht_probabilities_.predict_proba(X) if hasattr(model, "isrht_probabilities_") else []
    answers = dict(labels=model.predict(X).astype(str), scores=model.decision_function(X), probabilities=proba)
    np.savez(pair + ".answers.npz", **answers)
assert not any(name.partition(".")[0] == "isrht" for name in sys.modules)
"""


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_works_without_isrht(n_classes, tmp_path):
    expected = {}
    for k, name in enumerate(MODELS):
        labels = list(LABELS)[k % 4]
        model, X = fitted(name, n_classes, labels)
        export_model(model, tmp_path / f"{k}.pkl", "sklearn")
        np.save(tmp_path / f"{k}.X.npy", X)
        proba = model.predict_proba(X) if hasattr(model, "predict_proba") else []
        expected[k] = model.predict(X).astype(str), model.decision_function(X), proba
    pairs = [str(tmp_path / str(k)) for k in expected]
    subprocess.run([sys.executable, "-c", ELSEWHERE, *pairs], check=True, timeout=120)
    for k, (labels, scores, proba) in expected.items():
        answers = np.load(tmp_path / f"{k}.answers.npz")
        assert_array_equal(answers["labels"], labels)
        assert_allclose(answers["scores"], scores, rtol=1e-9, atol=1e-12)
        assert_allclose(answers["probabilities"], proba, rtol=1e-9, atol=1e-12)


def test_it_is_a_fitted_pipeline_of_scikit_learn(tmp_path):
    model, X = fitted("boosted")
    export_model(model, tmp_path / "model.pkl", "sklearn")
    pipeline = pickle.loads((tmp_path / "model.pkl").read_bytes())
    assert type(pipeline) is Pipeline
    assert pipeline.isrht_export_["trusted_only"]
    assert "trust" in pipeline.isrht_export_["warning"]
    assert_array_equal(pipeline.predict(as_csr(X)), model.predict(X))
    y = model.predict(X)
    assert clone(pipeline).fit(X, y).score(X, y) > 0.8


def test_names_of_features_are_kept(tmp_path):
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    export_model(LinearSVM().fit(frame, y), tmp_path / "model.pkl", "sklearn")
    pipeline = pickle.loads((tmp_path / "model.pkl").read_bytes())
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(frame.rename(columns={"f0": "other"}))


def test_probabilities_know_the_names_of_features(tmp_path):
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    model = ISRHTClassifier(8, random_state=0).fit(frame, y)
    export_model(model, tmp_path / "model.pkl", "sklearn")
    probabilities = pickle.loads((tmp_path / "model.pkl").read_bytes()).isrht_probabilities_
    assert_allclose(probabilities.predict_proba(frame), model.predict_proba(frame), rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        probabilities.predict_proba(frame.rename(columns={"f0": "other"}))
