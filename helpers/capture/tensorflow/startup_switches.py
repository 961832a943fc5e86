"""TensorFlow's start-up switches -> what each of them does, from a fresh interpreter.

A switch is a call that turns eager execution on or off for the whole process, such as
`tf.compat.v1.disable_eager_execution()` (tensorflow/python/framework/ops.py and
tensorflow/python/eager/context.py). A process cannot undo it. So each switch is tried in a child
process of its own.
"""

from ...model.transcripts import Transcript, Transcripts
from ...safety import progress
from ...safety.arguments import printable
from ...safety.restoring import is_interrupted
from ..processes.child import record_transcript

MOST_NAMED = 5  # switches in an error
# What each program begins with, after `import tensorflow as tf`.
SHARED = """\
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
v1 = tf.compat.v1
"""

# What a switch does -> the program that shows it.
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


def run_switches() -> Transcripts:
    """Run the program of each switch in a child process of its own; return what they printed.

    After Ctrl-C, the result has the programs that have run.
    """
    runs = []
    for label in progress.report_each("start", SWITCHES):
        runs.append(run_switch(label))
        if is_interrupted():
            break
    note = f"Every run begins with import tensorflow as tf, and:\n{SHARED}".rstrip()
    return Transcripts("Start-up switches, each in a fresh interpreter", tuple(runs), note)


def run_switch(label: str, source: str | None = None) -> Transcript:
    """Run the program of one switch in a child process, and return what it printed.

    `label` is a key of SWITCHES, else KeyError is raised. If `source` is given, that program is run
    instead, and `label` is only its title.
    """
    if source is not None:
        return record_transcript(label, SHARED + source, source)
    if label not in SWITCHES:
        first = "; ".join(list(SWITCHES)[:MOST_NAMED])
        raise KeyError(f"'{printable(label)}' is not a switch; the {len(SWITCHES)} are {first}; …")
    program = SWITCHES[label]
    return record_transcript(label, SHARED + program, program)
