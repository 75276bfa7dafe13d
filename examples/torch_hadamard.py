"""``hadamard_transform`` of the Dao-AILab's ``fast_hadamard_transform``, for CPUs and laptops, with gradients.

The matrix of the transform is symmetric, so the gradient is the transform of the gradient. Half precision is
transformed in float32, as there. Zeros fill up a row whose length is no power of two to the next, as there, and the
result is cut off again: outputs are theirs, to rounding. Lengths ``m * 2**k`` have transforms of their own in
:func:`isrht.fwht`, which are orthogonal and need no padding, but give other numbers.
"""

import torch

import isrht


class HadamardTransform(torch.autograd.Function):
    """The transform of the last axis, times a scale."""

    @staticmethod
    def forward(ctx, x, scale):
        """Transform the memory of the tensor without a copy but for the result."""
        ctx.scale = scale
        half = x.dtype in (torch.bfloat16, torch.float16)
        values = (x.float() if half else x).detach().contiguous()
        return isrht.fwht(values, norm=scale).to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        """Transform the gradient, by a function that has gradients itself."""
        return HadamardTransform.apply(gradient, ctx.scale), None


@torch.compiler.disable  # the kernels are not made of what a compiler of torch knows; it compiles what is around them
def hadamard_transform(x, scale=1.0):
    """Return ``scale * x @ H`` along the last axis of a tensor, of its shape and type."""
    length = x.shape[-1]
    power = 1 << max(0, length - 1).bit_length()
    padded = torch.nn.functional.pad(x, (0, power - length))
    return HadamardTransform.apply(padded, float(scale))[..., :length]
