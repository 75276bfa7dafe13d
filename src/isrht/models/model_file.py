"""The model file: arrays and a manifest, and nothing that runs.

A pickle is a program, and to load it is to run it. A model of this package is a few arrays and a few numbers, and so is
what scikit-learn puts before it. A file holds just these: it is an ``.npz`` (a zip of ``.npy`` files) with a JSON
manifest in front. :func:`load` picks the class from a fixed list, compares the declared sizes with that of the file
before it makes arrays, and gives an estimator no array whose type, shape and range it has not checked. :func:`save`
writes beside the old file and renames, so that there is always one whole file, and refuses what :func:`load` would
refuse.

=======================  ===================================================================================
member of the zip        what it holds
=======================  ===================================================================================
``manifest.json``        ``format``, ``format_version``, ``isrht_version``, ``about``, ``model``, ``members``,
                         ``sha256``
``<name>.npy``           an array: little-endian numbers, booleans or unicode, of one or two dimensions
``<name>.json``          a list of strings: labels or feature names that were Python objects
``<part>/<name>.npy``    an array of an estimator inside the model, such as ``projection_/signs_.npy``, or, of the
                         third step of a pipeline, ``step2/coef_.npy``
=======================  ===================================================================================

``model`` is ``{class, params, not_stored, values, parts}``; ``parts`` are the estimators inside, in the same form.
``about`` is what the user wants to know of the model later. ``members`` gives type and shape of all other members, in
their order. ``sha256`` is that of the manifest without this entry, followed by the data of the members. Signs are bits,
eight to a byte.

What is kept of a class is the matter of its codec, beside the class (:mod:`isrht.support.codec`); the list of them is
:mod:`isrht.models._registry`. :mod:`isrht.models._packing` makes a manifest and arrays of an estimator,
:mod:`isrht.models._archive` makes bytes of these, and :mod:`isrht.models._file_access` reads and writes the bytes.

The archive is stored, not compressed: random signs and trained weights do not compress, and a file that cannot grow
when it is read is no zip bomb. It is laid out here and not by :mod:`zipfile`, so that every byte follows from the
manifest and the arrays: equal models give equal files under every Python, and a file that differs in one byte from what
:func:`save` would have written is refused. Any zip tool, and ``numpy.load``, can read it.

The checksum finds damage, not malice: who can write the file can write a checksum. A stranger's file may therefore be a
bad model, but it cannot do anything. ``joblib`` and ``pickle`` also keep the statistics that columns were selected by,
but run what is in the file: load those only if you wrote them. ``skops`` lies between: it keeps everything, and builds
only types that you have declared trusted.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from isrht.models._archive import archive, describe, read_manifest, read_members
from isrht.models._file_access import called, opened_for_writing, read_model_file
from isrht.models._packing import check_restorable, not_stored, pack, unpack
from isrht.models._registry import codec_of
from isrht.support.codec import ModelFileError
from isrht.support.hints import ModelFile

__all__ = ["ModelFileError", "load", "read_about", "save"]

# What is longer than this is data, and not about the model.
MAX_ABOUT_BYTES = 2**16


def save(model: Any, path: ModelFile, *, folded: bool = True, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to one file, whole or not at all.

    Parameters
    ----------
    model : estimator
        One of this package, one of those of scikit-learn that docs/model-files.md lists, or a Pipeline of them.
    path : str, path-like or binary file object
        An existing file is replaced in one step, when the new one is on disk. A file object is written to from where
        it stands, and left open; that it arrives whole is the matter of its owner.
    folded : bool, default=True
        Whether to keep weights that follow from others: ``coef_`` of :class:`~isrht.ISRHTClassifier`, 8 bytes
        per feature and class, where its projection takes one bit per feature. Otherwise :func:`load` computes
        them again, to the same bits on the same kind of machine.
    about : dict or None
        Whatever you want to know of the model later, in terms of JSON: where its data came from, say.
        :func:`read_about` reads it.

    Raises
    ------
    TypeError
        If no file can hold estimators of this class, or ``about`` is no dict of what JSON can hold.
    NotFittedError
        If the model, or a step of a pipeline, is not fitted.
    ModelFileError
        If the model holds what no file can hold: labels that are objects but not strings, say.

    See Also
    --------
    load : Read the estimator again.

    Notes
    -----
    Parameters that are objects (a random state, a splitter, a scoring function) cannot be stored. They come
    back as their defaults, and a ``UserWarning`` names them. So does ``memory`` of a Pipeline, which is a place on the
    machine that trained it.

    Examples
    --------
    >>> import os, tempfile
    >>> from isrht import LinearSVM
    >>> from isrht import load, save
    >>> model = LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.isrht"))
    ...     load(os.path.join(folder, "model.isrht")).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """
    codec_of(model)
    check_is_fitted(model)
    try:
        node, arrays = pack(model, folded)
        check_restorable(model, node, arrays)
        manifest, members = describe(node, arrays, _checked_about(about))
    except ModelFileError as error:
        raise ModelFileError(f"cannot save this {type(model).__name__}: {error}") from error.__cause__
    if lost := not_stored(node):
        what = f"a model file cannot hold these parameters, which load as defaults: {', '.join(lost)}"
        warnings.warn(what, stacklevel=2)
    with opened_for_writing(path) as file:
        for chunk in archive(manifest, members):
            file.write(memoryview(chunk))


def load(path: ModelFile, *, max_bytes: int = 2**32) -> Any:
    """Read an estimator that :func:`save` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : str, path-like or binary file object
        A file object is read from where it stands to its end, and left open.
    max_bytes : int, default=2**32
        Larger files are refused before they are read.

    Returns
    -------
    estimator
        It is fitted, and of the class of the model that was saved.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, truncated, damaged, too large, of a newer format or inconsistent.

    See Also
    --------
    save : Write such a file; its example also loads one.
    read_about : Read what was said about the model, without making it.
    """
    try:
        raw = read_model_file(path, max_bytes)
        manifest = read_manifest(raw)
        arrays = read_members(raw, manifest)
        return unpack(manifest["model"], arrays)
    except (ModelFileError, RecursionError) as error:
        why = "its manifest is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(f"cannot load {called(path)}: {why}") from error.__cause__


def read_about(path: ModelFile, *, max_bytes: int = 2**32) -> dict[str, Any]:
    """Return what :func:`save` was told about the model.

    Parameters
    ----------
    path : str, path-like or binary file object
        A file object is read from where it stands to its end, and left open.
    max_bytes : int, default=2**32
        Larger files are refused before they are read.

    Returns
    -------
    dict
        What was given as ``about``, with the ``class`` of the model, the ``isrht_version`` that wrote the file, and the
        number of its ``bytes``.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, truncated, too large or of a newer format, or its manifest is damaged.

    Examples
    --------
    >>> import io
    >>> from isrht import LinearSVM, save
    >>> from isrht.models import read_about
    >>> file = io.BytesIO()
    >>> save(LinearSVM().fit([[-1.0], [1.0]], ["no", "yes"]), file, about={"data": "two rows"})
    >>> _ = file.seek(0)
    >>> read_about(file)["data"]
    'two rows'
    """
    try:
        raw = read_model_file(path, max_bytes)
        manifest = read_manifest(raw)
    except ModelFileError as error:
        raise ModelFileError(f"cannot read {called(path)}: {error}") from error.__cause__
    facts = {"class": manifest["model"]["class"], "isrht_version": manifest["isrht_version"], "bytes": len(raw)}
    return manifest.get("about", {}) | facts


def _checked_about(about):
    """Return what is said about a model, as JSON gives it back."""
    about = {} if about is None else about
    if not isinstance(about, dict):
        raise TypeError(f"about must be a dict or None, got {about!r}")
    try:
        text = json.dumps(about, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"about must be made of what JSON can hold: {error}") from None
    if len(text) > MAX_ABOUT_BYTES:
        raise ValueError(f"about takes {len(text)} bytes, more than {MAX_ABOUT_BYTES}")
    return json.loads(text)
