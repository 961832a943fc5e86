"""A call under `torch.compile` -> the new bytecode that Dynamo made of the function.

The new code calls the compiled graph, and after a graph break it calls a resume function, which
runs the rest of the function.
"""

from dataclasses import replace

from ...internals import torch_private
from ...model.code_records import Bytecode
from ..cpython.bytecode import list_bytecode
from ..cpython.objects import read_function_name
from ..text.error import describe_error
from .compiled_function import find_compiled_function
from .dynamo_call import record_translation
from .dynamo_messages import RESUME_GLOBAL, clean_message, format_whole_message
from .dynamo_recorder import TranslationRecorder
from .dynamo_run import find_compilable
from .dynamo_sentences import describe_interrupted_translation

STARTS_INSIDE = "what it compiled starts further inside; pass a function that calls it"
RUNS_UNCHANGED = "Python runs it as it is"
RESUME_LEFT_OUT = "The code of resume functions is left out; watch_compile steps through it."


def list_new_bytecode(fn, /, *args, **kwargs) -> Bytecode:
    """Run `fn(*args, **kwargs)` under torch.compile and list the bytecode that Dynamo made.

    ValueError if Dynamo made none.
    """
    unwrapped = find_compilable(fn, "watch_rewriting", args)
    # `unwrapped.function` is the user's function. `function` is the one that Dynamo starts with,
    # such as the wrapper that a decorator put around it.
    function, unwrapping_sentences = find_compiled_function(fn)
    torch_private.require_names("cache", "dynamo")
    # torch's default adds calls to the new code that only measure time
    with torch_private.config.patch(record_runtime_overhead=False):
        recorder = record_translation(
            unwrapped.call,
            unwrapped.function,
            args,
            kwargs,
            step_limit=0,  # no step of the translation is needed
            rewritten_function=function,
        )

    if not recorder.rewritten_as:
        reason = _describe_missing_code(recorder)
        raise ValueError(f"Dynamo made no new code for {read_function_name(function)}: {reason}")

    # Dynamo's names of graphs and resume functions end in numbers that differ in each run. The
    # numbers are removed.
    new_code = recorder.rewritten_as[0]
    stable_names = tuple(map(clean_message, new_code.co_names))
    listing = list_bytecode(new_code.replace(co_names=stable_names))

    has_resume_functions = any(map(RESUME_GLOBAL.match, new_code.co_names))
    left_out = RESUME_LEFT_OUT if has_resume_functions else ""
    is_interrupted = isinstance(recorder.error, KeyboardInterrupt)
    interruption = describe_interrupted_translation(recorder) if is_interrupted else ""

    lines = filter(None, (*unwrapping_sentences, interruption, left_out, listing.note))
    # All instructions of the new code have the same line number, so two columns say nothing.
    shown_columns = (
        column for column in listing.columns if column.field not in ("where", "snippet")
    )
    return replace(
        listing,
        title=f"What Dynamo made of {read_function_name(function)}",
        columns=tuple(shown_columns),
        note="\n".join(lines),
        cut=left_out,
    )


def _describe_missing_code(recorder: TranslationRecorder) -> str:
    """Return the end of the sentence that says why Dynamo made no new code for the function."""
    if recorder.error:
        reason = f"the call raised {describe_error(recorder.error)}"
        message = format_whole_message(recorder.error)
        return f"{reason}\n{message}" if message else reason
    # For a module of torch's own, Dynamo starts with a function that the module calls. Its graph
    # belongs to the new code of that function.
    if recorder.graphs:
        return STARTS_INSIDE
    return RUNS_UNCHANGED
