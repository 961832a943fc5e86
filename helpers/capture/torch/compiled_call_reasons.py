"""Why plain Python ran in a call of a compiled function -> words for a ledger."""

from types import CodeType, FunctionType, MethodType

from ...internals import code_extras, compiled_functions, torch_private
from ...safety.users_frames import is_library
from .dynamo_messages import clean_message
from .frame_arguments import read_closure
from .frame_words import describe_frame

STANCE_OFF = 'torch.compiler.set_stance("force_eager") turned compiling off'
STANCE_RAISES = 'torch.compiler.set_stance("fail_on_recompile") raises, as no entry accepts'
STANCE_KEPT = (
    'no entry accepts this call, and torch.compiler.set_stance("eager_on_recompile") keeps Dynamo '
    "from compiling"
)
NO_MORE = "no entry accepts this call, and Dynamo compiles no more of this code"
NOTHING_TO_COMPILE = "Dynamo found no tensor op to compile in"
MARKED = "Dynamo did not look at {}, because torch has marked this code to be skipped"
EARLIER = "{}. In an earlier call: {}"
NOT_LOOKED_AT = (
    "unknown: Dynamo did not look at this code again. An earlier call may have made it skip the "
    "code for good; a call inside a TorchDispatchMode, config.disable and a failed compile do that"
)
NOT_REPORTED = (
    "an earlier call made Dynamo give up {}, and torch does not say whether plain Python ran it in"
)
SHARED_WRAPPER = (
    "; torch has one wrapper for all that Dynamo cannot start with, such as a Sequential, and one "
    "that fails, such as an LSTM, turns all of them off"
)
NO_CALL = (
    "No call of a compiled function was seen. What torch.compile made with disable=True, or in a "
    "process with TORCH_COMPILE_DISABLE, is the function itself, and its calls cannot be seen."
)


def describe_marked_code(fn, users_only: bool = False) -> str:
    """Return in words that the code a call of `fn` starts with is marked; "" if it is not.

    Torch marks a code object to be skipped, and then says nothing of its frames. `users_only`:
    torch's own functions do not count, other than the `forward` of its modules.
    """
    # a module compiled in its place starts with torch's `_call_impl`, which calls its `forward`
    module = fn.__self__ if compiled_functions.is_module_call(fn) else None
    start = fn if module is None else module.forward
    function = start.__func__ if type(start) is MethodType else start
    code = getattr(function, "__code__", None)

    if type(function) is not FunctionType or type(code) is not CodeType:
        return ""
    if users_only and module is None and is_library(code.co_filename):
        return ""
    actions = [action for _, action in code_extras.list_barred_codes([code])]
    if actions != ["SKIP"]:
        return ""

    frame_locals = {}
    if module is not None:
        frame_locals = {"self": module}
    elif compiled_functions.is_inline_wrapper(code):
        frame_locals = read_closure(function)  # torch's wrapper has the user's function in it
    return MARKED.format(describe_frame(code, frame_locals))


def read_recompile_limit() -> int:
    """Return how many entries Dynamo makes for one function at most."""
    return torch_private.config.recompile_limit


def describe_failure(metrics) -> str:
    """Return in Dynamo's words why it failed; `metrics` are torch's, of the frame."""
    message = clean_message(f"{metrics.fail_type}: {metrics.fail_reason}")
    first_line = message.split("\n")[0]
    return " ".join(first_line.split())
