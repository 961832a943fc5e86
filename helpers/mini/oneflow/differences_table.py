"""How this small OneFlow differs from OneFlow 0.3, for the writer of an op."""

from typing import NamedTuple


class Difference(NamedTuple):
    """One way in which this is not OneFlow 0.3."""

    #: A short name, which tests use.
    name: str
    #: What it is about.
    about: str
    #: What OneFlow 0.3 does.
    original: str
    #: What happens here.
    here: str


DIFFERENCES = (
    Difference(
        name="shape",
        about="a kernel returns another shape with as many numbers",
        original="accepted as it is",
        here="OpError: exact shape and dtype are checked",
    ),
    Difference(
        name="surplus",
        about="a kernel returns more arrays than the op has outputs",
        original="the surplus is dropped",
        here="OpError: the two numbers must be equal",
    ),
    Difference(
        name="missing",
        about="a kernel returns one array for two outputs",
        original="the second output contains leftover memory",
        here="OpError: the two numbers must be equal",
    ),
    Difference(
        name="read-only",
        about="a kernel writes into its input",
        original="the input changes for every op that reads it",
        here="OpError: inputs are read-only",
    ),
    Difference(
        name="arguments",
        about="what forward(args) receives",
        original="a list of arrays (the article says tuple)",
        here="a tuple of arrays",
    ),
    Difference(
        name="several",
        about="how a kernel returns two outputs",
        original="in a list; a tuple ends the process",
        here="in a list or a tuple",
    ),
    Difference(
        name="exception",
        about="a kernel raises an exception",
        original="segmentation fault, no message",
        here="OpError with op, file, line and the exception",
    ),
    Difference(
        name="attrs",
        about="attributes in a Python kernel",
        original="never passed",
        here="passed to forward(args, attrs), if it is defined that way",
    ),
    Difference(
        name="folder",
        about="custom_op_module(name, path)",
        original="deletes ./name and copies path/name there, unless path is the working folder",
        here="reads the files where they are",
    ),
    Difference(
        name="stale",
        about="an edited C++ definition is loaded again",
        original="not compiled again if the folder is in the working directory",
        here="compiled again whenever a byte in its folder differs",
    ),
    Difference(
        name="reload",
        about="the same folder is loaded twice in one process",
        original="the process ends: op type registered twice",
        here="the new definitions replace the old",
    ),
    Difference(
        name="crash",
        about="a C++ definition crashes",
        original="the process ends",
        here="OpError: it runs in a process of its own",
    ),
    Difference(
        name="front-end",
        about="the language of a definition",
        original="C++",
        here="Python or C++, with the same result",
    ),
    Difference(
        name="device",
        about="an op with a Python kernel is placed on the gpu",
        original="OpKernelNotFoundError when the job is compiled",
        here="OpError with the same words, when the op is built",
    ),
    Difference(
        name="placement",
        about="an op outside any flow.scope.placement",
        original="goes to the gpu in a build with CUDA, to the cpu in one without",
        here="goes to the gpu, and is refused: you must give the placement",
    ),
    Difference(
        name="attr-types",
        about="types of attributes",
        original="14",
        here="bool, int32, int64, float, double and string",
    ),
    Difference(
        name="by-dtype",
        about="a kernel for some dtypes only: REGISTER_USER_KERNEL with a predicate",
        original="in C++; a Python kernel takes every dtype",
        here="in a Python kernel file, too",
    ),
    Difference(
        name="api-early",
        about=".api before it is loaded",
        original="None",
        here="OpError",
    ),
)


def differences() -> tuple[Difference, ...]:
    """Return all differences that a definition, a wrapper or a kernel can notice."""
    return DIFFERENCES
