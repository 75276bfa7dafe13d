"""examples/torch_hadamard.py, which makes the transform a function of torch with gradients."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isrht import fwht

RECIPE = Path(__file__).parents[2] / "examples" / "torch_hadamard.py"


def recipe():
    """Return the names that the recipe defines."""
    return runpy.run_path(str(RECIPE))


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("length", [64, 96, 1536])
def test_values_and_types(torch, dtype, length):
    hadamard_transform = recipe()["hadamard_transform"]
    x = torch.randn(3, 5, length, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    result = hadamard_transform(x, scale=0.25)
    assert result.dtype == x.dtype
    assert result.shape == x.shape
    tolerance = {"float32": 1e-4, "float64": 1e-11, "float16": 2e-2, "bfloat16": 2e-1}[dtype]
    assert_allclose(result.double().numpy(), fwht(x.double().numpy(), norm=0.25), rtol=0, atol=tolerance * 4)


def test_gradients(torch):
    hadamard_transform = recipe()["hadamard_transform"]
    x = torch.randn(2, 12, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: hadamard_transform(t, 0.5), x)
    assert torch.autograd.gradgradcheck(lambda t: hadamard_transform(t, 0.5), x)


def test_other_lengths_are_padded(torch):
    hadamard_transform = recipe()["hadamard_transform"]
    x = torch.arange(13, dtype=torch.float64)
    expected = fwht(np.pad(np.arange(13.0), (0, 3)))[:13]
    assert_allclose(hadamard_transform(x).numpy(), expected)
    assert torch.autograd.gradcheck(hadamard_transform, x.requires_grad_())
