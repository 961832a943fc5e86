"""The chapters of the course: six about one *seam* of a call each, and one with broken programs.

A seam is a place on the path of a call at which something may take over the call. The map shows
each seam as a station. The heads of the chapters, the map and the README take their texts from
here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter, in the words of its own head and of the README's table.

    Attributes
    ----------
    number : int
        The number of the chapter; the first seam has 1.
    file : str
        The file name of the notebook, without its ending.
    title : str
        The title of the chapter.
    about : str
        What a learner finds out, as the README says it.
    needs : str
        The frameworks and compilers that the chapter needs, "" if it needs none.
    """

    number: int
    file: str
    title: str
    about: str
    needs: str


@dataclass(frozen=True, slots=True)
class Station(Chapter):
    """A seam, at which something may take over a call, and its chapter.

    Attributes
    ----------
    name : str
        The name of the seam, such as `cache key`.
    happens : str
        What happens at the seam.
    who : str
        Who steps in at the seam.
    seam : str
        The seam, as the head of the chapter says it.
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
        file="01_function_references",
        title="Rebind every name that refers to a function",
        about="what keeps a reference to a function, and how to replace them all",
        needs="TensorFlow",
        name="name",
        happens="a line looks a name up",
        who="code that rebinds the name",
        seam="*a line looks a name up.*",
    ),
    Station(
        number=2,
        file="02_tf_function",
        title="Trace a function, and see which argument made it trace again",
        about="which argument causes a retrace, and what a graph gains you",
        needs="TensorFlow",
        name="cache key",
        happens="a wrapper looks up a graph by the arguments",
        who="TensorFlow's tracer",
        seam="*the wrapper's cache key.*",
    ),
    Station(
        number=3,
        file="03_bytecode_and_frames",
        title="Read the value stack, then write the interpreter",
        about="the real value stack, and an interpreter that you write",
        needs="",
        name="frame",
        happens="the interpreter evaluates one frame",
        who="CPython itself",
        seam="*the evaluation loop, one frame at a time.*",
    ),
    Station(
        number=4,
        file="04_pep523_and_dynamo",
        title="Hook the evaluator, then grow a compiler behind it",
        about="a hook in the frame evaluator, a small Dynamo of your own, "
        "and the real one step by step",
        needs="PyTorch; C compiler optional",
        name="evaluator",
        happens="the frame evaluator can be replaced",
        who="torch.compile",
        seam="`_PyInterpreterState_SetEvalFrameFunc`.",
    ),
    Station(
        number=5,
        file="05_oneflow_python_kernel",
        title="Write an op in three files, and train through it",
        about="one op in three files, from its definition to its gradient",
        needs="C++ compiler optional",
        name="registry",
        happens="a registry maps an op to a kernel",
        who="code that registers a kernel",
        seam="*the registry, where a logical op meets a kernel.*",
    ),
    Station(
        number=6,
        file="06_eager_execution",
        title="Follow one eager call to the C function that runs it",
        about="one eager call through every Python layer, and the C call that runs it",
        needs="TensorFlow, PyTorch",
        name="C call",
        happens="one C function runs eager TensorFlow",
        who="TensorFlow's runtime",
        seam="*`TFE_Execute`, the one C function that every eager op goes through.*",
    ),
)
CLINIC = Chapter(
    number=7,
    file="07_the_clinic",
    title="Find the seam, prove it, cure the program",
    about="broken programs from real issue threads, for you to diagnose and fix",
    needs="TensorFlow, PyTorch",
)
CHAPTERS = (*SPINE, CLINIC)
