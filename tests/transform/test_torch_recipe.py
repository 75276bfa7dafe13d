"""examples/torch_hadamard.py, which makes the transform a function of torch with gradients."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from isrht import fwht

RECIPE = Path(__file__).parents[2] / "examples" / "torch_hadamard.py"


def recipe():
    """Return the names that the recipe defines."""
    return runpy.run_path(str(RECIPE))


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("length", [1, 64, 1024])
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


@pytest.mark.parametrize("length", [13, 96, 1536])
def test_other_lengths_are_padded_to_a_power_of_two(torch, length):
    """As in the library whose signature it has, so that what was rotated there matches."""
    hadamard_transform = recipe()["hadamard_transform"]
    power = 1 << (length - 1).bit_length()
    x = torch.randn(2, length, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = 0.25 * np.pad(x.numpy(), [(0, 0), (0, power - length)]) @ hadamard(power)
    assert_allclose(hadamard_transform(x, 0.25).numpy(), expected[:, :length], atol=1e-10)
    if length == 13:
        assert torch.autograd.gradcheck(hadamard_transform, x.requires_grad_())


def test_a_compiled_function_may_call_it(torch):
    hadamard_transform = recipe()["hadamard_transform"]
    x = torch.randn(2, 8, dtype=torch.float64)
    compiled = torch.compile(lambda t: 2 * hadamard_transform(t + 1), backend="eager")
    assert_allclose(compiled(x).numpy(), 2 * fwht((x + 1).numpy()), atol=1e-12)
