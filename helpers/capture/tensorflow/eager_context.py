"""TensorFlow's eager context -> what its switches do, and what its op callbacks report.

Each switch (tensorflow/python/eager/context.py, tensorflow/python/framework/ops.py) is tried in a
child of its own. The routes are small programs by which a logger of ops can be tried.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module

from ...internals import tensorflow_private
from ...internals.tensorflow_private import DOORS
from ...model.tables import Transcript, Transcripts
from ...safety import progress
from ...safety.arguments import printable
from ...safety.restoring import is_interrupted, patched
from ..processes.child import transcript

SHARED = """\
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
v1 = tf.compat.v1
"""

SWITCHES = {
    "disable: the same line builds a graph": """\
v1.disable_eager_execution()
x = tf.constant(3.0)
print(type(x).__name__, tf.executing_eagerly())
print(v1.Session().run(x * 2))""",
    "enable, after the global graph was used": """\
v1.disable_eager_execution()
tf.constant(3.0)
v1.enable_eager_execution()""",
    "enable, with an invalid policy": """\
v1.disable_eager_execution()
v1.enable_eager_execution(device_policy=9)""",
    "enable, with options the live context does not have": """\
tf.constant(1)
v1.disable_eager_execution()
v1.enable_eager_execution(execution_mode=context.ASYNC)""",
    "enable, with options, before a context: a name is rebound": """\
before = context.context
v1.disable_eager_execution()
v1.enable_eager_execution(
    device_policy=context.DEVICE_PLACEMENT_EXPLICIT, execution_mode=context.ASYNC)
made = context.context()
print(made.device_policy == context.DEVICE_PLACEMENT_EXPLICIT)
print(made.execution_mode == context.ASYNC)
print(before.__name__, context.context.__name__, before is context.context)""",
    "TFE_Py_InitEagerTensor, a second time": """\
from tensorflow.python import pywrap_tfe
class Base(ops._EagerTensorBase): pass
pywrap_tfe.TFE_Py_InitEagerTensor(Base)
tf.constant(1.0) + 1""",
}


def startup_switches() -> Transcripts:
    """Return what every switch does, each from a fresh child."""
    runs = []
    for label in progress.counted("start", SWITCHES):
        runs.append(startup(label))
        if is_interrupted():
            break
    note = f"Every run begins with import tensorflow as tf, and:\n{SHARED}".rstrip()
    return Transcripts("Start-up switches, each in a fresh interpreter", tuple(runs), note)


def startup(label: str, source: str | None = None) -> Transcript:
    """Run one switch, or `source` in its place. KeyError names switches that there are."""
    if source is not None:
        return transcript(label, SHARED + source, source)
    if label not in SWITCHES:
        first = "; ".join(list(SWITCHES)[:5])
        raise KeyError(f"'{printable(label)}' is not a switch; the {len(SWITCHES)} are {first}; …")
    return startup(label, SWITCHES[label])


def callbacks() -> list:
    """Return the op callbacks of this thread."""
    return list(tensorflow_private.context.context().op_callbacks)


@contextmanager
def callbacks_kept() -> Iterator[list]:
    """Put the op callbacks, and the functions at the two doors, back as they were."""
    doors, before = tensorflow_private.doors, callbacks()
    with patched(doors, **{door: getattr(doors, door) for door in DOORS}):
        try:
            yield before
        finally:
            # Also where a learner's code has removed some: `before` is what must be there.
            for callback in callbacks():
                tensorflow_private.op_callbacks.remove_op_callback(callback)
            for callback in before:
                tensorflow_private.op_callbacks.add_op_callback(callback)


def bystander():
    """Add an op callback that does nothing, and return it."""

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        return outputs  # the next callback gets what this one returns

    tensorflow_private.op_callbacks.add_op_callback(callback)
    return callback


@contextmanager
def reported() -> Iterator[list[str]]:
    """Give the list of ops that TensorFlow itself reports inside the block."""
    names = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        names.append(op_type.decode() if isinstance(op_type, bytes) else op_type)
        return outputs

    with tensorflow_private.op_callback(callback):
        yield names


def run_ops(*names: str) -> None:
    """Run a MatMul or an AddV2 for each name."""
    a = import_module("tensorflow").constant([[1.0]])
    for name in names:
        a @ a if name == "MatMul" else a + a


def run_routes(names: Iterable[str]) -> None:
    """Run one op, or a few, on each of these routes; their names are those of `ROUTES`."""
    for name in names:
        ROUTES[name](import_module("tensorflow"))


def _build(tf):
    with tf.Graph().as_default():
        tf.sin(tf.constant(1.0, name="one"), name="wave")


def _differentiate(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    tape.gradient(y, x)


def _refuse(tf):
    with suppress(tf.errors.InvalidArgumentError):
        tf.constant(1.0) + tf.constant(1)


def _trace(tf, fn):
    return tf.function(fn, autograph=False).get_concrete_function(tf.constant(1.0))


_square = cache(lambda tf: _trace(tf, lambda x: x * x))
ROUTES = {
    "an op": lambda tf: run_ops("Add"),
    "a fallback": lambda tf: tf.negative([1.0], name="minus"),
    "a graph": _build,
    "a tf.function": lambda tf: _square(tf)(tf.constant(2.0)),
    "the trace of a tf.function": lambda tf: _trace(tf, lambda x: tf.cos(x) * x),
    "a gradient": _differentiate,
    "a refused op": _refuse,
}
