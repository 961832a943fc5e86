"""One call of a function under `torch.compile` -> what Dynamo did, and how the call ended.

Dynamo's caches are set aside during the call, so that it compiles everything anew. After the call
its caches and counts are as before.
"""

import warnings
from contextlib import nullcontext

from ...internals import dynamo_codes, dynamo_settings, dynamo_translation, torch_private
from ...internals.dynamo_state import as_if_new
from ...mini.frame_hook import check_c_stack
from ...safety.restoring import note_interrupt, raise_after_verb
from ...safety.standard_output import redirect_prints
from ..text.error import describe_error
from .dynamo_recorder import TranslationRecorder

MOST_INSTRUCTIONS = 500


def record_translation(
    call,
    function,
    args: tuple = (),
    kwargs: dict | None = None,
    step_limit: int = MOST_INSTRUCTIONS,
    rewritten_function=None,
    own_backends: bool = True,
) -> TranslationRecorder:
    """Compile `call`, call it once, and return the recorder with all that Dynamo did.

    The backend runs each graph as it is. An error of the call is not raised, but stored as
    `recorder.error`.

    Parameters
    ----------
    call : callable
        What is compiled and called.
    function : FunctionType
        The Python function with which `call` starts. Instructions are recorded for the user's
        functions, and for functions in the same module as this one. For functions of other
        libraries only graph breaks are recorded.
    args, kwargs : tuple, dict
        The arguments of the call.
    step_limit : int
        The number of instructions after which the record stops.
    rewritten_function : FunctionType, optional
        The function whose new bytecode is stored as `recorder.rewritten_as`; by default `function`.
    own_backends : bool
        Whether the user's compiled functions that `call` calls use their own backends.
    """
    torch_private.require_names("hook", "dynamo", "tracing", "cache")
    import torch

    recorder = TranslationRecorder(function.__globals__, step_limit)
    code = (rewritten_function or function).__code__
    with (
        as_if_new(code) as fresh,  # Dynamo's caches are empty in this block
        _replace_own_backends(fresh, own_backends) as backends_not_called,
        dynamo_settings.remove_compile_mark(call),  # an attribute that torch.compile sets on `call`
        dynamo_settings.collect_torch_logs(),  # so that torch prints no logs
        dynamo_translation.report_translation(recorder) as reading_errors,
        redirect_prints(recorder.printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        # Dynamo counts such messages for the whole process. The difference belongs to this call.
        messages_before = dynamo_settings.count_unsupported_messages()
        try:
            compiled = torch.compile(call, backend=dynamo_translation.run_as_it_is)
            with check_c_stack():  # here a deep recursion raises an error instead of crashing
                recorder.value = compiled(*args, **(kwargs or {}))
        except KeyboardInterrupt as error:
            recorder.error = error
            note_interrupt(error)  # the interrupt is raised after the record has been shown
        except BaseException as error:
            recorder.error = error
            raise_after_verb(error)

        recorder.rewritten_as = [entry.code for entry in dynamo_codes.read_cache_entries(code)]
        recorder.unsupported = [*(dynamo_settings.count_unsupported_messages() - messages_before)]

    recorder.shares_dynamo = bool(fresh.ids_of_other_threads)
    recorder.without_own_backend = bool(backends_not_called)
    recorder.barred_codes = fresh.barred
    recorder.codes_to_skip = fresh.skipped
    recorder.reading_error = describe_error(reading_errors[0]) if reading_errors else ""
    return recorder


def _replace_own_backends(fresh, own_backends: bool):
    """Return a context manager in which the user's own backends are not called.

    Graphs run as they are there. The context manager yields a list, to which each backend is added
    that was not called. With `own_backends` it does nothing and yields None. `fresh` is what
    `as_if_new` yields.
    """
    if own_backends:
        return nullcontext()
    return dynamo_translation.skip_backends(fresh.is_of_block)
