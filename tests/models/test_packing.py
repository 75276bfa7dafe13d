"""Estimators as nodes and arrays: which parameters are kept, and that nothing is built of what does not fit."""

import json

import numpy as np
import pytest
from forged_files import content_of, forged, leaves, model_of, node_of, read
from kept_models import MODELS, assert_same, assert_same_bits, fitted_model
from sklearn.model_selection import StratifiedKFold

from isrht import ISRHT, ISRHTClassifier, LinearSVMCV, save
from isrht.models import ModelFileError
from isrht.models._packing import unpack

# ------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    "value", [None, "text", (1, 2), {0: 1.5, "a": 2}, np.float32(0.1), 2.0 ** np.arange(3)], ids=repr
)
def test_parameters_keep_value_and_type(value):
    model = fitted_model("svm").set_params(class_weight=value)
    assert_same(model_of(content_of(model)).class_weight, value)


def test_objects_as_parameters_are_not_stored_and_one_warning_names_them(data, path):
    def score(model, X, y):
        return model.score(X, y)

    search = LinearSVMCV(cv=StratifiedKFold(3), scoring=score, tol=1e-4).fit(*data)
    with pytest.warns(UserWarning, match=r"which load as defaults: cv, scoring$") as warned:
        save(search, path)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    loaded = model_of(path.read_bytes())
    assert (loaded.cv, loaded.scoring, loaded.tol) == (5, None, 1e-4)
    assert_same_bits(loaded.coef_, search.coef_)


@pytest.mark.parametrize(
    "value",
    [np.random.RandomState(0), 2**64, list(range(100_000)), 1j, {"a": {1}}],
    ids=lambda value: type(value),
)
def test_parameters_that_do_not_fit_are_not_stored(data, value):
    model = ISRHT(8, random_state=0).fit(*data).set_params(random_state=value)
    with pytest.warns(UserWarning, match="random_state$"):
        content = content_of(model)
    assert model_of(content).random_state is None
    assert len(content) < 4000


def test_a_parameter_that_contains_itself_is_not_stored():
    loop = []
    loop.append(loop)
    with pytest.warns(UserWarning, match="class_weight$"):
        content_of(fitted_model("svm").set_params(class_weight=loop))


def test_fields_that_are_no_plain_numbers_are_named():
    model = fitted_model("svm")
    model.n_iter_ = object()
    with pytest.raises(ModelFileError, match="cannot save this LinearSVM: a model file cannot hold <object"):
        content_of(model)


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize("name", ["os.system", "FeatureUnion", "LinearSVC", "_LinearClassifier", "__class__"])
def test_unknown_classes_are_refused(name):
    content = content_of(fitted_model("svm"))
    content = forged(content, node=node_of(content) | {"class": name})
    with pytest.raises(ModelFileError, match=f"its class '{name}' is unknown; known are ISRHT, "):
        model_of(content)


def test_parts_of_another_class_are_refused(data):
    content = content_of(ISRHTClassifier(8, selection="supervised", C=1.0).fit(*data))
    node = node_of(content)
    node["parts"]["projection_"]["class"] = "SparseEmbedding"
    with pytest.raises(ModelFileError, match=r"projection_/ is of class SparseEmbedding, not ISRHT"):
        model_of(forged(content, node=node))


@pytest.mark.parametrize(
    ("key", "addition", "message"),
    [
        ("params", {"evil": 1}, "LinearSVM has no parameter 'evil'"),
        ("values", {"evil": 1}, "LinearSVM holds unknown fields: evil"),
        ("parts", {"evil": {}}, "LinearSVM holds unknown fields: evil"),
    ],
)
def test_unknown_parameters_and_fields_are_refused(key, addition, message):
    content = content_of(fitted_model("svm"))
    node = node_of(content)
    with pytest.raises(ModelFileError, match=message):
        model_of(forged(content, node=node | {key: node[key] | addition}))


def test_unknown_parameters_that_were_not_stored_are_refused():
    content = content_of(fitted_model("svm"))
    with pytest.raises(ModelFileError, match="no parameter 'evil'"):
        model_of(forged(content, node=node_of(content) | {"not_stored": ["evil"]}))


def test_unknown_arrays_are_refused():
    content = content_of(fitted_model("svm"))
    _, arrays = read(content)
    with pytest.raises(ModelFileError, match="unknown arrays: evil"):
        model_of(forged(content, arrays=arrays | {"evil": np.ones(3)}))


def spoilt(array):
    """Yield arrays that are like this one, but cannot take its place."""
    if array.dtype != object:
        with np.errstate(invalid="ignore"):
            yield array.astype("<f4" if array.dtype.kind != "f" else "<i8")
        yield array[None] if array.ndim == 1 else array[0]
    if array.ndim == 1:
        yield np.append(array, array[-1:])
        yield np.append(array, array[-1:])[None]
    if array.dtype.kind == "f":
        yield np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


# A model without them is another model, but one there can be.
OPTIONAL = {"mean_", "magnitudes_"}


def test_arrays_that_do_not_fit_are_refused(fitted):
    content = content_of(fitted)
    _, arrays = read(content)
    for name, array in arrays.items():
        for other in spoilt(array):
            may_be_nan = "scores_" in name and (np.isnan(other.astype(float)).any() or "fold" in name)
            if may_be_nan or ("classes_" in name and other.shape == array.shape):
                continue
            with pytest.raises(ModelFileError, match=r"has shape|is of type|is not finite|are not|are out of"):
                model_of(forged(content, arrays=arrays | {name: other}))
        if name.rpartition("/")[2] not in OPTIONAL:
            with pytest.raises(ModelFileError):
                model_of(forged(content, arrays={key: value for key, value in arrays.items() if key != name}))


JUNK = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    float("nan"),
    "x",
    [],
    {},
    [[1]],
    {"float": "1"},
    {"tuple": 1},
    {"dict": [[[], 1]]},
    {"dict": [1]},
    {"numpy": ["|O", [], [1]]},
    {"numpy": ["<U999999", [10_000], ["x"] * 10_000]},
    {"numpy": ["<i8", [2], [1]]},
    {"numpy": ["|u1", [1], [1000]]},
    {"evil": 1},
]

# What may be missing, and what may be another number.
HARMLESS = {
    "params",
    "not_stored",
    "parts",
    "n_iter_",
    "C_",
    "n_samples_seen_",
    "calibration_slope",
    "search_candidates_",
}
HARMLESS |= {"threshold_", "has_signal_", "held_out_score_", "rounds_", "row_scale", "weight_unit_"}
HARMLESS |= {"dense_output", "gamma_", "density_", "is_array", "noise_variance_", "n_samples_", "names"}


@pytest.mark.parametrize(
    "name",
    [
        *("classifier cv", "sketched", "boosted signs", "svm cv", "fourier", "achlioptas", "gaussian", "pca"),
        *("quantile", "power", "standard", "tfidf", "variance", "pipeline of a classifier", "pipeline of nothing"),
    ],
)
def test_junk_anywhere_in_a_manifest_is_refused_or_harmless(name):
    """Every entry of the manifest in turn becomes something else, as after a forger has signed it."""
    manifest, arrays = read(content_of(fitted_model(name)))
    text = json.dumps(manifest["model"])
    refused = 0
    for *way, last in leaves(manifest["model"]):
        for junk in JUNK:
            node = place = json.loads(text)
            for key in way:
                place = place[key]
            place[last] = junk
            try:
                assert type(unpack(node, arrays)) is type(MODELS[name])
            except ModelFileError:
                refused += 1
            else:
                assert HARMLESS & {*way, last}
    assert refused > 50
