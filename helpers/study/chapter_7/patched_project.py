"""The project of case 1, imported anew -> what its loss gives, beside what it must give."""

from collections.abc import Iterator
from contextlib import contextmanager

from helpers.capture.text.error import said
from helpers.study.chapter_7.project import fresh
from helpers.study.check import Unfit

THIRD = {
    "report": """
from losses import penalty as size
from training import loss as measured


def bare(weights):
    return size(weights)


def told(weights, error):
    return measured(weights, error)
"""
}
TWICE = {
    "training": """
import tensorflow as tf
from losses import penalty


@tf.function
def loss(weights, error):
    return 2.0 * error + penalty(weights)
"""
}
WEIGHTS = ([3.0, -4.0], [0.5, 2.0, -1.0], [1.0, 1.0], [-2.0, 0.25, 3.0])
SHAPES = len({len(one) for one in WEIGHTS})
CHANGED = "sources is no longer the project of this case: run the cell that defines it again"


def _sizes(weights):
    import tensorflow as tf

    return tf.reduce_sum(tf.abs(weights))


def _cubes(weights):
    import tensorflow as tf

    return 0.5 * tf.reduce_sum(weights**3)


NEW = (_sizes, _cubes)


class Patched:
    """A replacement of penalty that counts how often Python ran it, and where."""

    def __init__(self, body):
        self.body, self.ran, self.eagerly = body, 0, 0
        self.penalty = self._counting()

    def _counting(self):
        def penalty(weights):
            import tensorflow as tf

            self.ran += 1
            self.eagerly += tf.executing_eagerly()
            return self.body(weights)

        return penalty


class Project:
    """The modules, and what was in them. The loss counts the error `factor` times."""

    def __init__(self, modules: list, factor: float = 1.0):
        self.losses, self.training, *self.others = modules
        self._factor = factor
        self._before = [dict(vars(module)) for module in modules]
        self._modules = modules

    def run(self) -> None:
        """Let the loss make the graphs that it would have made before anybody patches it."""
        for weights, error in _calls():
            self.training.loss(weights, error)

    def unlike(self, new: Patched) -> str | None:
        """Return how the loss parts from one that was written with the new penalty."""
        for path, loss in self._losses():
            new.ran = new.eagerly = 0
            for weights, error in _calls():
                if because := _parted(loss, weights, error, new, self._factor):
                    return f"{path}: {because}"
            if new.eagerly or new.ran > SHAPES:
                return (
                    f"{path}: Python ran the new penalty {new.ran} times in {len(WEIGHTS)} calls: "
                    "loss is to stay a tf.function, with a graph for each shape"
                )
        return self._bare_unlike(new)

    def left_behind(self) -> str | None:
        """Return what is another after the block."""
        for module, before in zip(self._modules, self._before, strict=True):
            now = vars(module)
            for name in sorted({*before, *now}):
                if now.get(name) is not before.get(name):
                    return f"{module.__name__}.{name} is not what it was, after the block"
        for weights, error in _calls():
            got, counted = self.training.loss(weights, error), self._factor * error
            if because := _wrong(got, _squares(weights), counted):
                return f"after the block training.loss {because}"
        return None

    def _losses(self) -> Iterator[tuple]:
        yield "training.loss", self.training.loss
        for module in self.others:
            yield f"{module.__name__}.told", module.told

    def _bare_unlike(self, new: Patched) -> str | None:
        weights = next(_calls())[0]
        for module in self.others:
            if because := _wrong(module.bare(weights), new.body(weights), 0.0):
                return f"{module.__name__}.bare {because}"
        return None


@contextmanager
def opened(sources: dict[str, str], third=False, twice=False) -> Iterator[Project]:
    """Import the learner's project anew. Unfit where it is another.

    `third`: with a module more; `twice`: with a loss that counts the error twice.
    """
    texts = {**sources, **(THIRD if third else {}), **(TWICE if twice else {})}
    try:
        with fresh({**sources}) as modules:
            project = Project(modules)
            weights, error = next(_calls())
            changed = _wrong(project.training.loss(weights, error), _squares(weights), error)
    except Exception as raised:
        raise Unfit(f"{CHANGED} ({said(raised)})") from None
    if changed:
        raise Unfit(CHANGED)
    with fresh(texts) as modules:
        yield Project(modules, 2.0 if twice else 1.0)


def _calls() -> Iterator[tuple]:
    import tensorflow as tf

    for at, weights in enumerate(WEIGHTS):
        yield tf.constant(weights), tf.constant(float(at))


def _squares(weights):
    import tensorflow as tf

    return tf.reduce_sum(weights**2)


def _parted(loss, weights, error, new: Patched, factor: float) -> str | None:
    import tensorflow as tf

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(weights)
        got, wanted = loss(weights, error), new.body(weights)
    if because := _wrong(got, wanted, factor * error):
        return because
    mine, theirs = tape.gradient(got, weights), tape.gradient(wanted, weights)
    if mine is None or not _close(mine, theirs):
        shown = None if mine is None else mine.numpy().tolist()
        return f"the gradient for weights is {shown}, and must be {theirs.numpy().tolist()}"
    return None


def _wrong(got, penalty, error) -> str | None:
    import tensorflow as tf

    wanted = penalty + error
    if not isinstance(got, tf.Tensor) or (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
        return "gives no float32 number"
    if _close(got, wanted):
        return None
    return f"gives {float(got):g}, and must give {float(wanted):g}"


def _close(one, other) -> bool:
    import numpy as np

    return bool(np.allclose(one, other, 1e-5, 1e-6))
