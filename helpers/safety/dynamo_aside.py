"""Functions of ours that torch's Dynamo is to leave to Python, with what they call.

A verb may be called in a compiled function, and its recorders are called between the parts of one.
There Dynamo is asked about each frame, and would translate ours.
"""

import sys
from collections.abc import Callable

# The functions of `breaks_graph` that wait for torch to be imported, to be marked then.
_WAITING: list[Callable] = []


def leave_to_python(*functions: Callable) -> None:
    """Have Dynamo translate neither these functions of ours nor what they call.

    Torch notes that on their code objects, for good. Nothing is done before torch is imported.
    """
    eval_frame = sys.modules.get("torch._C._dynamo.eval_frame")
    if eval_frame is None:
        return
    functions += tuple(_WAITING)
    _WAITING.clear()
    skip = eval_frame._FrameAction.SKIP
    strategy = eval_frame._FrameExecStrategy(skip, skip)  # for the function, for what it calls
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, strategy)


class _Reason:
    """Why Dynamo does not translate a call of ours, as the attribute that torch shows.

    Dynamo makes a text of it before the call runs. So all functions are marked in time, also if
    torch was imported after them.
    """

    def __str__(self):
        """Return the reason; before that, mark the functions that wait for torch."""
        leave_to_python()
        return "it is an instrument, which looks at calls from outside"


def breaks_graph(function: Callable) -> Callable:
    """Return a function of ours as given, marked so that Dynamo never translates a call of it.

    A call in a compiled function is a graph break, as of what `torch.compiler.disable` returns.
    """
    function._torchdynamo_disable = True
    function._torchdynamo_disable_msg = _Reason()
    _WAITING.append(function)
    leave_to_python()
    return function
