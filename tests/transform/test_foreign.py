"""Arrays of other libraries: a small one of our own that speaks DLPack, and torch where it is installed."""

import sys
import types

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht import HadamardRotation, fwht, fwhtn, ifwht
from isrht.transform.foreign import take

library = types.ModuleType("library_with_dlpack")


class Tensor:
    """An array of a library that NumPy does not know, in the memory of some device."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class Negative(Tensor):
    """What is the negative of its memory, as a tensor of torch can be."""

    def resolve_neg(self):
        return Tensor(-self.array)


class Brain(Tensor):
    """An array of bfloat16, which is that of ml_dtypes within, of a library whose DLPack says so."""

    dtype = "bfloat16"

    def __dlpack__(self, **options):
        raise BufferError("NumPy has no bfloat16")

    def view(self, dtype):
        return Tensor(self.array.view(dtype))


for kind in (Tensor, Negative, Brain):
    kind.__module__ = library.__name__
library.from_dlpack = lambda array: Tensor(np.from_dlpack(array))
library.asarray = lambda array: Tensor(np.asarray(array))


@pytest.fixture(autouse=True)
def _imported(monkeypatch):
    monkeypatch.setitem(sys.modules, library.__name__, library)


def test_what_was_given_comes_back_in_kind(rng):
    x = rng.standard_normal((4, 96)).astype(np.float32)
    result = fwht(Tensor(x), norm="ortho")
    assert isinstance(result, Tensor)
    assert_array_equal(result.array, fwht(x, norm="ortho"))
    assert isinstance(fwhtn(Tensor(x), 0), Tensor)
    assert isinstance(ifwht(Tensor(np.arange(8))), Tensor)


def test_no_copy_where_the_layout_allows(rng):
    x = rng.standard_normal((4, 64))
    taken = take(Tensor(x))
    assert np.shares_memory(taken.array, x)
    assert taken.shared
    expected = fwht(x)
    given = Tensor(x)
    if taken.array.flags.writeable:  # NumPy 2.1 takes the memory of others only to read it
        assert fwht(given, overwrite_x=True) is given
        assert_array_equal(x, expected)
    else:
        assert_array_equal(fwht(given, overwrite_x=True).array, expected)


def test_a_memory_map_is_overwritten_where_that_is_allowed(tmp_path):
    x = np.memmap(tmp_path / "values", np.float32, "w+", shape=(3, 8))
    x[:] = np.arange(24).reshape(3, 8)
    expected = fwht(np.array(x))
    assert type(fwht(x)) is np.ndarray
    assert fwht(x, overwrite_x=True) is x
    assert_array_equal(np.fromfile(tmp_path / "values", np.float32).reshape(3, 8), expected)
    assert_array_equal(fwht(np.memmap(tmp_path / "values", np.float32, "r", shape=(3, 8)), overwrite_x=True)[0, 0], 0)


def test_what_is_the_negative_of_its_memory(rng):
    x = rng.standard_normal((4, 8))
    before = x.copy()
    assert_array_equal(fwht(Negative(x)).array, fwht(-x))
    assert_array_equal(fwht(Negative(x), overwrite_x=True).array, fwht(-x))
    assert_array_equal(x, before)


def test_bfloat16_comes_back_as_what_it_was(monkeypatch, rng):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    monkeypatch.setattr(library, "bfloat16", "bfloat16", raising=False)
    monkeypatch.setattr(library, "int16", np.int16, raising=False)
    monkeypatch.setattr(Tensor, "view", lambda self, dtype: (dtype, self.array), raising=False)
    x = rng.standard_normal((3, 12)).astype(bfloat16)
    dtype, bits = fwht(Brain(x))
    assert dtype == "bfloat16"
    assert_array_equal(bits, fwht(x).view(np.int16))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="ml_dtypes: install it, or give them as float32"):
        fwht(Brain(x))


def test_the_given_array_is_not_written_to(rng):
    x = rng.standard_normal((4, 64))
    before = x.copy()
    fwht(Tensor(x))
    HadamardRotation(random_state=0).fit(Tensor(x)).transform(Tensor(x))
    assert_array_equal(x, before)


def test_memory_of_a_gpu_is_an_error_that_says_what_to_do():
    with pytest.raises(TypeError, match=r"GPU.*device type 2.*move it to the CPU.*library_with_dlpack.Tensor"):
        fwht(Tensor(np.zeros(4), device=2))
    with pytest.raises(TypeError, match="GPU"):
        HadamardRotation().fit(Tensor(np.zeros((2, 4)), device=2))


@pytest.mark.parametrize("device", [3, 11])
def test_pinned_memory_is_taken(device):
    """CUDA's and ROCm's pinned memory is the CPU's. NumPy trusts the capsule, which here says CPU."""
    assert_array_equal(fwht(Tensor(np.ones(4), device)).array, [4, 0, 0, 0])


def test_subclasses_come_back_as_what_their_library_makes():
    class Image(Tensor):
        """A class of somebody else's module."""

    Image.__module__ = "somebody_else"
    assert isinstance(fwht(Image(np.ones(4))), Tensor)
    assert isinstance(HadamardRotation().fit_transform(Image(np.ones((2, 4)))), Tensor)


def test_gradients_are_not_lost_silently():
    x = Tensor(np.ones((2, 4)))
    rotation = HadamardRotation().fit(x)
    x.requires_grad = True
    for use in (fwht, rotation.transform, rotation.inverse_transform):
        with pytest.raises(RuntimeError, match="gradient .*detach"):
            use(x)


def test_a_library_without_int64_may_not_cut_integers(monkeypatch):
    class Narrow(Tensor):
        itemsize = 4

    monkeypatch.setattr(library, "from_dlpack", lambda array: Narrow(np.from_dlpack(array).astype(np.int32)))
    assert_array_equal(fwht(Tensor(np.array([3, 1], np.uint32))).array, [4, 2])
    assert fwht(Tensor(np.zeros((0, 2), np.uint32))).array.size == 0
    for values in ([2**32 - 1, 1], [0, 2**31 + 1]):
        with pytest.raises(OverflowError, match="do not fit int32"):
            fwht(Tensor(np.array(values, np.uint32)))


def test_what_has_only_an_array_becomes_numpys():
    class Series:
        def __array__(self, dtype=None, copy=None):
            return np.arange(4.0)

    assert_array_equal(fwht(Series()), [6, -2, -4, 0])
    assert type(fwht(Series())) is np.ndarray


def test_a_library_that_cannot_take_arrays_gets_numpys(monkeypatch):
    monkeypatch.delattr(library, "from_dlpack")
    assert type(fwht(Tensor(np.ones(4)))) is np.ndarray


def test_rotations_give_back_the_kind(rng):
    x = rng.standard_normal((5, 37)).astype(np.float32)
    rotation = HadamardRotation(random_state=0).fit(Tensor(x))
    rotated = rotation.transform(Tensor(x))
    assert isinstance(rotated, Tensor)
    assert_array_equal(rotated.array, rotation.transform(x))
    assert isinstance(rotation.inverse_transform(rotated), Tensor)


def test_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.arange(24, dtype=torch.float32).reshape(2, 12)
    result = fwht(x)
    assert isinstance(result, torch.Tensor)
    assert result.dtype == torch.float32
    assert_array_equal(result.numpy(), fwht(x.numpy()))
    for dtype in (torch.float16, torch.float64, torch.int32, torch.complex64):
        assert fwht(x.to(dtype)).dtype == dtype
    expected = fwht(x.numpy())
    assert fwht(x, overwrite_x=True) is x
    assert_array_equal(x.numpy(), expected)
    rotation = HadamardRotation(random_state=0).fit(x)
    assert isinstance(rotation.transform(x), torch.Tensor)


@pytest.mark.parametrize("shape", ["whole", "with gaps", "transposed"])
def test_bfloat16_of_torch(rng, shape):
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("ml_dtypes")
    x = torch.randn(12, 24).bfloat16()
    x = {"whole": x, "with gaps": x[:, ::2], "transposed": x.T[:12]}[shape]
    before = x.clone()
    result = fwht(x, overwrite_x=True)
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, fwht(x.float()).bfloat16())
    assert torch.equal(x, before)
    assert HadamardRotation(random_state=0).fit(x).transform(x).dtype == torch.float64
    with pytest.raises(RuntimeError, match="gradient"):
        fwht(x.requires_grad_())


def test_subclasses_of_torch():
    torch = pytest.importorskip("torch")

    class Image(torch.Tensor):
        """A tensor of somebody else's."""

    assert isinstance(fwht(torch.ones(4).as_subclass(Image)), torch.Tensor)


def test_conjugates_and_negatives_of_torch(rng):
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 8, dtype=torch.complex64)
    before = x.clone()
    for view in (x.conj(), x.conj().imag):
        expected = fwht(view.resolve_conj().resolve_neg().numpy())
        assert_array_equal(fwht(view).numpy(), expected)
        assert_array_equal(fwht(view, overwrite_x=True).numpy(), expected)
    assert torch.equal(x, before)


def test_jax(rng):
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(12, dtype=jnp.float32)
    result = fwht(x)
    assert type(result) is type(x)
    assert_array_equal(np.asarray(result), fwht(np.arange(12, dtype=np.float32)))
    assert fwht(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16
    with pytest.raises(OverflowError, match="int32"):
        fwht(jnp.array([2**32 - 1, 1], dtype=jnp.uint32))
