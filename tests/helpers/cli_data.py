"""Small files, and the command line called in this process, for the tests of the commands."""

import numpy as np
from typer.testing import CliRunner

from isrht.files.writing import write_rows


def isrht(*arguments, **options):
    """Run a command and return its result, which has an exit_code, stdout and stderr."""
    from isrht.cli.app import app

    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def labelled_rows(seed, n_samples=120, n_features=10, labels=(-1, 1)):
    """Return rows whose first feature tells the class, with some noise, and their labels."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_samples) % len(labels)
    X = rng.standard_normal((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.5)
    X[:, 0] = codes * 3 + rng.standard_normal(n_samples) * 0.5 + 0.1
    return X.round(3), np.asarray(labels)[codes]


def write_file(path, seed=0, **options):
    """Write :func:`labelled_rows` to a file and return them."""
    X, y = labelled_rows(seed, **options)
    write_rows(path, X, y)
    return X, y
