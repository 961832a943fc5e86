"""The arrays that an op is judged on: those that learners think of, and those that they forget."""

from typing import NamedTuple

import numpy as np

SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)  # no kinks: a numerical slope exists at each
KINKS = (0.0, -0.0)
FAR = (30.0, -30.0, 1000.0, -1000.0, 1e-30, -1e-30)
ENDLESS = (np.inf, -np.inf, np.nan)


class Case(NamedTuple):
    """An array to go in, and for each output the gradient that comes back to it."""

    x: np.ndarray
    dys: tuple[np.ndarray, ...]

    def __str__(self):
        return f"{self.x.dtype}[{', '.join(map(str, self.x.shape))}]"


def plain(outputs: int) -> Case:
    """Return six small numbers with a slope everywhere, in two rows of float64."""
    return _case(np.array(SAMPLE).reshape(2, 3), outputs)


def cases(outputs: int, endless=True, endless_dys=True, half=True) -> list[Case]:
    """Return the arrays, simple ones first: kinks, far and endless numbers, other shapes, dtypes.

    `outputs`: how many gradients come back. Without `endless` no infinity and no nan goes in,
    without `endless_dys` none comes back; without `half` there is no float16.
    """
    rng = np.random.default_rng(13)
    special = np.array([*KINKS, *FAR[:4], *(ENDLESS if endless else ()), *FAR[4:]])
    arrays = [
        np.array(SAMPLE, np.float32),
        special,
        special.astype(np.float16 if half else np.float32),
        rng.normal(0, 3, ()),
        np.zeros((0, 2), np.float32),
    ]
    turned = _case(rng.normal(0, 3, (3, 1, 2)).astype(np.float32).T, outputs)
    turned = _with_endless_gradients(turned) if endless_dys else turned
    return [*(_case(x, outputs) for x in arrays), turned]


def _case(x: np.ndarray, outputs: int) -> Case:
    """Return a case whose gradients are whole numbers, no two alike, of both signs, one zero."""
    counted = np.arange(1, x.size + 1).reshape(x.shape)
    signed = np.where(counted % 2, counted, -counted)
    dys = [np.where(counted == 3, 0, signed * (1 - 3 * n) + n) for n in range(outputs)]
    return Case(x, tuple(np.asarray(dy, x.dtype) for dy in dys))


def _with_endless_gradients(case: Case) -> Case:
    dys = tuple(dy.copy() for dy in case.dys)
    for dy in dys:
        dy[..., ::2] = np.inf
    return Case(case.x, dys)
