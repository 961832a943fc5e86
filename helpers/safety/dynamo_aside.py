"""Tell torch's Dynamo not to compile functions of this package, nor what they call.
A verb, such as `watch_names`, may be called in a function that `torch.compile` compiles, and the
functions of its recorders run in the middle of one. There Dynamo looks at each Python frame that
begins, and would compile frames of this package as if they were the user's.
"""

import sys
from collections.abc import Callable

# The functions that `breaks_graph` got before torch was imported. They are marked after that.
_WAITING: list[Callable] = []


def leave_to_python(*functions: Callable) -> None:
    """Mark functions so that Dynamo compiles neither these functions nor what they call.

    Torch stores the mark on their code objects, and it stays. Nothing is done if torch has not been
    imported yet.
    """
    eval_frame = sys.modules.get("torch._C._dynamo.eval_frame")
    if eval_frame is None:
        return
    functions += tuple(_WAITING)
    _WAITING.clear()
    skip = eval_frame._FrameAction.SKIP
    # The first `skip` is for the function, and the second for what it calls.
    strategy = eval_frame._FrameExecStrategy(skip, skip)
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, strategy)


class _Reason:
    """The reason that torch shows where Dynamo refuses to compile a call of a verb.

    Dynamo converts this object to text before the call runs. `__str__` uses that moment: it marks
    the functions that were defined before torch was imported.
    """

    def __str__(self):
        """Mark the functions in `_WAITING`, then return the reason."""
        leave_to_python()
        return "it is an instrument, which looks at calls from outside"


def breaks_graph(function: Callable) -> Callable:
    """Mark a function so that Dynamo never compiles a call of it, and return the same function.

    A call of it in a compiled function is a graph break: Dynamo ends its graph before the call, and
    Python runs the call. `torch.compiler.disable` has the same effect, but needs torch.
    """
    function._torchdynamo_disable = True
    function._torchdynamo_disable_msg = _Reason()
    _WAITING.append(function)
    leave_to_python()
    return function
