"""What types a type checker must find in the package. mypy --strict reads this file as a user's; nothing runs it.

``assert_type`` fails where a hint says less or more; a comment ``type: ignore[...]`` that nothing calls for is an
error, so each of them shows a mistake that a type checker finds.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import isrht
from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    Predictor,
    RowSource,
    SparseEmbedding,
)

X64, X32 = np.zeros((4, 8)), np.zeros((4, 8), dtype=np.float32)
y = np.arange(4)


def transforms_keep_the_precision_of_their_input() -> None:
    assert_type(isrht.fwht(X32), NDArray[np.float32])
    assert_type(isrht.fwht(X64, 0, norm="ortho"), NDArray[np.float64])
    assert_type(isrht.fwht(X64.astype(np.float16)), NDArray[np.float16])
    assert_type(isrht.ifwht(X32, norm="forward"), NDArray[np.float32])
    assert_type(isrht.fwhtn(X64, (0, 1), norm=0.5), NDArray[np.float64])
    assert_type(isrht.ifwhtn(X32), NDArray[np.float32])
    assert_type(isrht.fwht(X64.astype(np.int32)), NDArray[np.int32])
    assert_type(isrht.fwht(X64.astype(np.int64), norm="ortho"), Any)
    isrht.fwht(y), isrht.ifwht([1.0, 0.0])
    isrht.fwht(X64, norm="sideways")  # type: ignore[call-overload]
    isrht.fwht(X64, 0, "ortho")  # type: ignore[call-overload]


def estimators_return_themselves_and_arrays() -> None:
    assert_type(ISRHTClassifier(16, C=1.0, Cs=[0.5, 1], class_weight={0: 2.0}).fit(X64, y), ISRHTClassifier)
    assert_type(LinearSVMCV(np.array([1.0]), cv=3).fit(X64, y, np.ones(4)), LinearSVMCV)
    assert_type(LinearSVM(2.0, class_weight="balanced").fit([[0.0], [1.0]], ["a", "b"]), LinearSVM)
    assert_type(BoostedISRHT(16, rounds=3, threshold=1.5, diagonal="z").fit(X64, y), BoostedISRHT)
    assert_type(ISRHT(0.5, selection="top").fit(X64), ISRHT)
    assert_type(SparseEmbedding("auto", diagonal="signs").fit(X64, y), SparseEmbedding)
    assert_type(LeverageScoreSelection(3, rank=2).fit(X64), LeverageScoreSelection)
    assert_type(HadamardFourierFeatures(8, gamma=0.1).fit(X64), HadamardFourierFeatures)
    assert_type(ISRHTClassifier().fit(X64, y).predict(X64), NDArray[Any] | Any)
    assert_type(ISRHT().fit(X64, y).inverse_transform(X64), NDArray[Any])
    assert_type(HadamardFourierFeatures().fit(X64).transform(X64), NDArray[Any])


def fitted_estimators_have_what_they_learned() -> None:
    model = ISRHTClassifier().fit(X64, y)
    assert_type(model.coef_, NDArray[Any])
    assert_type(model.n_features_in_, int)
    assert_type(model.feature_names_in_, NDArray[Any])
    assert_type(model.C_, float)
    assert_type(model.svm_, LinearSVM)
    assert_type(LinearSVMCV().fit(X64, y).scores_, NDArray[Any])
    assert_type(ISRHT().fit(X64).signs_, NDArray[Any])
    assert_type(BoostedISRHT().fit(X64, y).rounds_, int)
    assert_type(isrht.HadamardRotation().fit(X64).seed_, int)


def mistakes_are_found() -> None:
    ISRHTClassifier(selection="best")  # type: ignore[arg-type]
    ISRHTClassifier(scale=True)  # type: ignore[arg-type]
    ISRHT(selection="boosted")  # type: ignore[arg-type]
    BoostedISRHT(n_component=3)  # type: ignore[call-arg]
    SparseEmbedding(diagonal="random", random_state="0")  # type: ignore[arg-type]
    LinearSVM(C="cv")  # type: ignore[arg-type]
    LinearSVM().fit(3, y)  # type: ignore[arg-type]
    isrht.files.open_rows("rows.svm", label_type="integer")  # type: ignore[arg-type]


def rows_may_be_elsewhere() -> None:
    source = RowSource("rows-*.svm", progress=lambda number, rows, n_samples: None)
    assert_type(source.shape, tuple[int, int])
    assert_type(source.labels, NDArray[Any] | None)
    assert_type(ISRHTClassifier().fit(source), ISRHTClassifier)
    RowSource(lambda: iter([(X64, y)]))
    RowSource(X64)
    RowSource([(X64, y), (X32, y)])


def files_are_read_and_written() -> None:
    X, labels, facts = isrht.files.read_rows(Path("rows.svm"), index_base=1)
    assert_type(labels, NDArray[Any] | None)
    assert_type(facts, isrht.files.Facts)
    for _, block_labels in isrht.files.open_rows(["a.csv", "b.csv"], label="class"):
        assert_type(block_labels, NDArray[Any] | None)
    isrht.files.write_rows("rows.parquet", X, labels)
    assert_type(isrht.datasets.load("digits"), isrht.datasets.Dataset)
    assert_type(isrht.datasets.describe("digits").n_features, int)


def models_outlive_their_fit() -> None:
    model = ISRHTClassifier(16).fit(X64, y)
    isrht.save(model, Path("model.isrht"), about={"data": "digits"})
    assert_type(isrht.models.read_about("model.isrht"), dict[str, Any])
    assert_type(isrht.models.ModelFileError("..."), isrht.models.ModelFileError)
    isrht.export.export_model(model, "model.onnx", "onnx", unfolded=True)
    predictor = Predictor(model)
    assert_type(predictor.decision_function(X64), NDArray[Any])
    assert_type(predictor.decision_function_one(([0, 3], [1.0, 2.0])), float | NDArray[Any])
