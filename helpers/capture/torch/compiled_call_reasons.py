"""Why plain Python ran in a call of a compiled function, in the words of a ledger."""

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
    """Return a sentence if torch has marked the code that a call of `fn` starts with, else "".

    Torch marks a code object to be skipped. After that, Dynamo does not look at its frames and
    reports nothing of them.

    Parameters
    ----------
    fn : callable
        What was compiled.
    users_only : bool
        Whether a mark on a function of a library does not count. A mark on the `forward` of an
        nn.Module always counts.
    """
    # After `module.compile()`, `fn` is the module's `_call_impl`. It is torch's function and calls
    # `forward`, whose code is the one that may be marked.
    module = fn.__self__ if compiled_functions.is_module_call(fn) else None
    start = fn if module is None else module.forward
    function = start.__func__ if type(start) is MethodType else start
    code = getattr(function, "__code__", None)

    if type(function) is not FunctionType or type(code) is not CodeType:
        return ""
    if users_only and module is None and is_library(code.co_filename):
        return ""
    # torch's decision on this one code object: [] if it has made none
    actions = [action for _, action in code_extras.list_barred_codes([code])]
    if actions != ["SKIP"]:
        return ""

    # These locals let the sentence name a module by its class, and a wrapper by what it calls.
    frame_locals = {}
    if module is not None:
        frame_locals = {"self": module}
    elif compiled_functions.is_inline_wrapper(code):
        frame_locals = read_closure(function)
    return MARKED.format(describe_frame(code, frame_locals))


def read_recompile_limit() -> int:
    """Return the largest number of cache entries that Dynamo makes for one function."""
    return torch_private.config.recompile_limit


def describe_failure(metrics) -> str:
    """Return the first line of Dynamo's error, such as `InternalTorchDynamoError: no handler`.

    `metrics` is torch's record of the failed compilation.
    """
    message = clean_message(f"{metrics.fail_type}: {metrics.fail_reason}")
    first_line = message.split("\n")[0]
    return " ".join(first_line.split())
