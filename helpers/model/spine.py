"""The way of a call: six seams, a chapter each, and the clinic; heads, map and README say it."""

from collections import namedtuple

# A chapter, as its own head and the README's table say it.
Chapter = namedtuple("Chapter", "number file title about needs")
# A seam: what `happens`, and `who` steps in there; `seam`: as the chapter's head says it.
Station = namedtuple("Station", [*Chapter._fields, "name", "happens", "who", "seam"])
START = "00_start_here"
BANDS = ("in Python", "in the interpreter", "in the framework's C and C++")  # two stations each
# fmt: off
SPINE = (
    Station(
        1, "01_function_references", "Rebind every name that refers to a function",
        "what keeps a reference to a function, and how to replace them all", "TensorFlow",
        "name", "a line looks a name up", "code that rebinds the name", "*a line looks a name up.*",
    ),
    Station(
        2, "02_tf_function", "Trace a function, and see which argument made it trace again",
        "which argument causes a retrace, and what a graph gains you", "TensorFlow",
        "cache key", "a wrapper looks up a graph by the arguments", "TensorFlow's tracer",
        "*the wrapper's cache key.*",
    ),
    Station(
        3, "03_bytecode_and_frames", "Read the value stack, then write the interpreter",
        "the real value stack, and an interpreter that you write", "",
        "frame", "the interpreter evaluates one frame", "CPython itself",
        "*the evaluation loop, one frame at a time.*",
    ),
    Station(
        4, "04_pep523_and_dynamo", "Hook the evaluator, then grow a compiler behind it",
        "a hook in the frame evaluator, a small Dynamo of your own, and the real one step by step",
        "PyTorch; C compiler optional",
        "evaluator", "the frame evaluator can be replaced", "torch.compile",
        "`_PyInterpreterState_SetEvalFrameFunc`.",
    ),
    Station(
        5, "05_oneflow_python_kernel", "Write an op in three files, and train through it",
        "one op in three files, from its definition to its gradient",
        "C++ compiler optional",
        "registry", "a registry maps an op to a kernel", "code that registers a kernel",
        "*the registry, where a logical op meets a kernel.*",
    ),
    Station(
        6, "06_eager_execution", "Follow one eager call to the C function that runs it",
        "one eager call through every Python layer, and the C call that runs it",
        "TensorFlow, PyTorch",
        "C call", "one C function runs eager TensorFlow", "TensorFlow's runtime",
        "*`TFE_Execute`, the one C function that every eager op goes through.*",
    ),
)
CLINIC = Chapter(
    7, "07_the_clinic", "Find the seam, prove it, cure the program",
    "broken programs from real issue threads, for you to diagnose and fix",
    "TensorFlow, PyTorch",
)
# fmt: on
CHAPTERS = (*SPINE, CLINIC)
