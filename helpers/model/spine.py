"""The way of a call through the course: six seams, a chapter each, and the clinic after them.

The heads of the chapters, the map in chapter 0 and the README's table are held to it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A chapter, as its own head and the README's table say it.

    How long it takes is computed from it: `helpers.course.minutes`.
    """

    number: int
    file: str
    title: str
    about: str
    needs: str


@dataclass(frozen=True, kw_only=True)
class Station(Chapter):
    """A seam, and the chapter that opens it.

    `happens` at the seam, and `who` gets in there; `seam`: how the chapter's head says it.
    """

    name: str
    happens: str
    who: str
    seam: str


START = "00_start_here"
BANDS = ("in Python", "in the interpreter", "in the framework's C and C++")  # two stations each
SPINE = (
    Station(
        number=1,
        name="name",
        happens="a call looks a name up",
        who="whoever rebinds the name",
        file="01_function_references",
        title="Rebind every name that holds a function",
        seam="*a call looks a name up.*",
        about="every name that holds a function, and how to rebind them all",
        needs="TensorFlow",
    ),
    Station(
        number=2,
        name="cache key",
        happens="a wrapper looks a graph up by its arguments",
        who="TensorFlow's tracer",
        file="02_tf_function",
        title="Trace a function, and see which argument made it trace again",
        seam="*the wrapper's cache key.*",
        about="which argument made it trace again, and what a graph buys",
        needs="TensorFlow",
    ),
    Station(
        number=3,
        name="frame",
        happens="the interpreter evaluates one frame",
        who="CPython itself",
        file="03_bytecode_and_frames",
        title="Read the value stack, then write the interpreter",
        seam="*the evaluation loop, one frame at a time.*",
        about="the real value stack, and an interpreter that you write",
        needs="",
    ),
    Station(
        number=4,
        name="evaluator",
        happens="the frame evaluator can be replaced",
        who="torch.compile",
        file="04_pep523_and_dynamo",
        title="Hook the evaluator, then grow a compiler behind it",
        seam="`_PyInterpreterState_SetEvalFrameFunc`.",
        about="a hook before the evaluator, a Dynamo that you grow, and the real one step by step",
        needs="PyTorch; C compiler optional",
    ),
    Station(
        number=5,
        name="registry",
        happens="a registry maps an op to a kernel",
        who="whoever registers a kernel",
        file="05_oneflow_python_kernel",
        title="Write an op in three files, and train through it",
        seam="*the registry, where a logical op meets a kernel.*",
        about="one op in three files, from its definition to training through it",
        needs="C++ compiler optional",
    ),
    Station(
        number=6,
        name="C call",
        happens="one C function runs eager TensorFlow",
        who="TensorFlow's runtime",
        file="06_eager_execution",
        title="Follow one eager call to the C function that runs it",
        seam="*`TFE_Execute`, the one C function that every eager op passes.*",
        about="one eager call through every layer of Python, and the same call by your own hand",
        needs="TensorFlow, PyTorch",
    ),
)
CLINIC = Chapter(
    number=len(SPINE) + 1,
    file="07_the_clinic",
    title="Find the seam, prove it, cure the program",
    about="broken programs built after real issue threads: name the seam, prove it, cure them",
    needs="TensorFlow, PyTorch",
)
CHAPTERS = (*SPINE, CLINIC)
