"""The switches that TensorFlow reads once -> what each does, tried in a child of its own.

Eager or graph, synchronous or not, the device policy: set before the first op they hold for the
process, and some only then; others, set later, for one thread (modules
tensorflow/python/eager/context.py and tensorflow/python/framework/ops.py).
"""

from helpers.capture.processes.child import transcript
from helpers.model.transcript import Transcript, Transcripts
from helpers.safety import progress
from helpers.safety.arguments import printable, word

SHARED = """\
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
v1 = tf.compat.v1
"""

SWITCHES = {
    "enable, when eager already: nothing is checked": """\
print(v1.enable_eager_execution(config=1, device_policy=9))
print(tf.executing_eagerly(), context._context)""",
    "disable: the same line builds a graph": """\
v1.disable_eager_execution()
x = tf.constant(3.0)
print(type(x).__name__, tf.executing_eagerly())
print(v1.Session().run(x * 2))""",
    "enable, after the global graph was used": """\
v1.disable_eager_execution()
tf.constant(3.0)
v1.enable_eager_execution()""",
    "enable, after only a graph of one's own": """\
v1.disable_eager_execution()
with tf.Graph().as_default():
    tf.constant(3.0)
print(v1.enable_eager_execution(), tf.executing_eagerly())""",
    "enable, after the graph was reset": """\
v1.disable_eager_execution()
tf.constant(3.0)
v1.reset_default_graph()
print(v1.enable_eager_execution(), tf.executing_eagerly())""",
    "enable, with a policy that is none": """\
v1.disable_eager_execution()
v1.enable_eager_execution(device_policy=9)""",
    "enable, with options the live context does not have": """\
tf.constant(1)
v1.disable_eager_execution()
v1.enable_eager_execution(execution_mode=context.ASYNC)""",
    "enable, with options in time: a name is rebound": """\
before = context.context
v1.disable_eager_execution()
v1.enable_eager_execution(
    device_policy=context.DEVICE_PLACEMENT_EXPLICIT, execution_mode=context.ASYNC)
made = context.context()
print(made.device_policy == context.DEVICE_PLACEMENT_EXPLICIT)
print(made.execution_mode == context.ASYNC)
print(before.__name__, context.context.__name__, before is context.context)""",
    "disable, after eager tensors were made": """\
x = tf.constant(1.0)
v1.disable_eager_execution()
x + 1""",
    "device policy: the public setter": """\
print(tf.config.experimental.get_device_policy())
tf.config.experimental.set_device_policy("explicit")
print(tf.config.experimental.get_device_policy())
tf.config.experimental.set_device_policy("nonsense")""",
    "sync: the error surfaces where it was made": """\
one, zero = tf.constant([1]), tf.constant([0])
print("dividing")
y = one // zero
print("divided")""",
    "async: the next op pays for it, until you clear": """\
tf.config.experimental.set_synchronous_execution(False)
y = tf.constant([1]) // tf.constant([0])
for step in (y.numpy, lambda: tf.constant([2.0]) * 2):
    try:
        step()
    except tf.errors.InvalidArgumentError as error:
        print(error.message.partition("}} ")[2] or error.message)
context.async_clear_error()
print((tf.constant([2.0]) * 2).numpy())""",
    "TFE_Py_InitEagerTensor, a second time": """\
from tensorflow.python import pywrap_tfe
class Base(ops._EagerTensorBase): pass
pywrap_tfe.TFE_Py_InitEagerTensor(Base)
tf.constant(1.0) + 1""",
}


def startup_switches() -> Transcripts:
    """Return what every switch does, each from a fresh child."""
    runs = tuple(startup(label) for label in progress.counted("start", SWITCHES))
    note = f"Every run begins with import tensorflow as tf, and:\n{SHARED}".rstrip()
    return Transcripts("Start-up switches, each in a fresh interpreter", runs, note)


MOST_NAMED = 5


def startup(label: str, source: str | None = None) -> Transcript:
    """Run one switch, or `source` in its place. KeyError names switches that there are.

    TypeError for a label or a source that is no text.
    """
    label = word(label, "the label of a switch")
    if source is not None:
        source = word(source, "the source")
        return transcript(label, SHARED + source, source)
    if label not in SWITCHES:
        first = "; ".join(list(SWITCHES)[:MOST_NAMED])
        raise KeyError(f"'{printable(label)}' is none of the {len(SWITCHES)} switches: {first}; …")
    return transcript(label, SHARED + SWITCHES[label], SWITCHES[label])
