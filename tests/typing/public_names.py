"""What a type checker must find in the package as its users import it. mypy reads this file; nothing runs it."""

import isrht
from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    HadamardRotation,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    Predictor,
    RowSource,
    SparseEmbedding,
    fwht,
    fwhtn,
    hadamard_matrix,
    ifwht,
    ifwhtn,
    load,
    make_projection,
    next_fast_len,
    save,
)


def use_public_names() -> tuple[object, ...]:
    version: str = isrht.__version__
    classifier: ISRHTClassifier = ISRHTClassifier(16, selection="boosted")
    projections: list[object] = [
        ISRHT(8),
        BoostedISRHT(8),
        HadamardFourierFeatures(8),
        HadamardRotation(1, copy=False),
        LeverageScoreSelection(8),
        SparseEmbedding(8),
        make_projection("SRHT", 8),
    ]
    models: list[object] = [LinearSVM(1.0), LinearSVMCV(), Predictor(classifier), RowSource([])]
    functions: list[object] = [
        fwht,
        fwhtn,
        hadamard_matrix,
        ifwht,
        ifwhtn,
        next_fast_len,
        load,
        save,
        isrht.files.open_rows,
        isrht.export.export_model,
        isrht.datasets.load,
        isrht.models.read_about,
        isrht.transform.fwht,
    ]
    return version, classifier, projections, models, functions
