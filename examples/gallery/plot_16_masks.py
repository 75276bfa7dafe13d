"""
Measuring with masks: a single-pixel camera
===========================================

A detector with one pixel looks at a scene through masks of open and shut squares. Sixty-four times sixty-four masks,
each of half of all squares at once, see more light than one square at a time: the same noise of the detector, and a far
better picture.
"""

import matplotlib.pyplot as plt
import numpy as np

from isrht import fwht

# %%
# A scene of 64 x 64 squares.
rows, columns = np.mgrid[-1:1:64j, -1:1:64j]
scene = np.exp(-6 * ((rows + 0.2) ** 2 + (columns - 0.2) ** 2)) + 0.7 * (np.abs(rows - 0.55) < 0.12)
scene += 0.5 * (np.hypot(rows + 0.5, columns + 0.5) < 0.2)

# %%
# One square at a time, every reading with the noise of the detector. Then masks: a reading is the sum of the squares
# with signs +1 and -1 (in practice the difference of two readings, a mask and its complement). All of them are one
# transform.
rng = np.random.default_rng(0)
noise = 0.5
one_at_a_time = scene + noise * rng.normal(size=scene.shape)
readings = fwht(scene.ravel()) + np.sqrt(2) * noise * rng.normal(size=scene.size)
with_masks = fwht(readings).reshape(scene.shape) / scene.size

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
pictures = {"the scene": scene, "one square at a time": one_at_a_time, "with masks, transformed back": with_masks}
for axis, (name, picture) in zip(axes, pictures.items(), strict=True):
    axis.imshow(picture, cmap="gray", vmin=scene.min(), vmax=scene.max())
    axis.set(title=name, xticks=[], yticks=[])
    axis.grid(False)

# %%
for name, picture in list(pictures.items())[1:]:
    print(f"{name:>28}: error {np.sqrt(np.mean((picture - scene) ** 2)):.4f}")
print(f"expected gain: sqrt(n / 2) = {np.sqrt(scene.size / 2):.0f} times")
