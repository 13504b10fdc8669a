"""How much two pictures of one size differ: in colour, and in structure.

Source: Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, *Image Quality Assessment: From Error Visibility to
Structural Similarity*, IEEE Trans. Image Processing 13(4), 2004 (Gaussian window, σ = 1.5).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from practicum.verifiers.colour import ciede2000, lab
from practicum.verifiers.image.raster import F8, U1

_LUMA = np.array([0.299, 0.587, 0.114])
_BAND = 1 << 20


def colour_difference(first: U1, second: U1) -> F8:
    """ΔE00 pixel by pixel, (h, w)."""
    flat = [image.reshape(-1, 3) for image in (first, second)]
    result = np.empty(len(flat[0]))
    for start in range(0, len(result), _BAND):
        band = slice(start, start + _BAND)
        result[band] = ciede2000(lab(flat[0][band]), lab(flat[1][band]))
    return result.reshape(first.shape[:2])


def structural_similarity(first: U1, second: U1) -> F8:
    """SSIM of luma pixel by pixel, (h, w), in [-1, 1]."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 - only some specs ask for structure

    x, y = (image.astype(np.float64) @ _LUMA for image in (first, second))

    def blur(values: F8) -> F8:
        return np.asarray(gaussian_filter(values, 1.5, truncate=3.5), np.float64)

    mean_x, mean_y = blur(x), blur(y)
    variance_x, variance_y = blur(x * x) - mean_x**2, blur(y * y) - mean_y**2
    covariance = blur(x * y) - mean_x * mean_y
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    below = (mean_x**2 + mean_y**2 + c1) * (variance_x + variance_y + c2)
    return np.asarray(above / below)


def share_near(image: U1, colour: tuple[int, int, int], delta_e: float) -> float:
    """The share of pixels within ΔE00 of a colour."""
    near: npt.NDArray[np.bool_] = ciede2000(lab(image.reshape(-1, 3)), lab(colour)) <= delta_e
    return float(near.mean())
