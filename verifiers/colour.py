"""How different two colours look.

Sources: IEC 61966-2-1 (sRGB); CIE 15 (L*a*b*, D65, 2°); G. Sharma, W. Wu, E. Dalal, *The CIEDE2000
Color-Difference Formula: Implementation Notes, Supplementary Test Data, and Mathematical Observations*,
Color Research & Application 30(1), 2005.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F8 = npt.NDArray[np.float64]

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(rgb: npt.ArrayLike) -> F8:
    """(…, 3) sRGB in 0–255 to CIE L*a*b*."""
    encoded = np.asarray(rgb, np.float64) / 255.0
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    ratio = linear @ _TO_XYZ.T / _WHITE
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.stack(
        [116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1
    )


def ciede2000(first: F8, second: F8) -> F8:
    """ΔE00 of two arrays of L*a*b* that broadcast; 1 is about what one just sees side by side."""
    l1, a1, b1 = np.moveaxis(first, -1, 0)
    l2, a2, b2 = np.moveaxis(second, -1, 0)
    mean_c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - np.sqrt(mean_c7 / (mean_c7 + 25.0**7)))
    c1, c2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, (1 + g) * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    grey = c1 * c2 == 0
    turn = (h2 - h1 + 180) % 360 - 180
    turn = np.where(grey, 0.0, np.where((turn == -180) & (h2 > h1), 180.0, turn))
    delta_l, delta_c = l2 - l1, c2 - c1
    delta_h = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    means = ((l1 + l2) / 2, (c1 + c2) / 2, _mean_hue(h1, h2, grey))
    return _weighted((delta_l, delta_c, delta_h), means)


def _mean_hue(h1: F8, h2: F8, grey: npt.NDArray[np.bool_]) -> F8:
    total = h1 + h2
    apart = np.abs(h1 - h2) > 180
    around = np.where(total < 360, (total + 360) / 2, (total - 360) / 2)
    return np.where(grey, total, np.where(apart, around, total / 2))


def _weighted(deltas: tuple[F8, F8, F8], means: tuple[F8, F8, F8]) -> F8:
    mean_l, mean_c, mean_h = means

    def cosine(factor: float, shift: float) -> F8:
        return np.asarray(np.cos(np.radians(factor * mean_h + shift)))

    t = 1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.20 * cosine(4, -63)
    offset = (mean_l - 50) ** 2
    s_l = 1 + 0.015 * offset / np.sqrt(20 + offset)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    theta = 30 * np.exp(-(((mean_h - 275) / 25) ** 2))
    rotation = -np.sin(np.radians(2 * theta)) * 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    light, chroma, hue = (delta / s for delta, s in zip(deltas, (s_l, s_c, s_h), strict=True))
    total = light**2 + chroma**2 + hue**2 + rotation * chroma * hue
    return np.asarray(np.sqrt(np.maximum(total, 0.0)))
