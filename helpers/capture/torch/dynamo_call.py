"""One call of a function under `torch.compile` -> what Dynamo did, and how the call ended.

All is compiled anew, and after the call Dynamo is as before.
"""

import warnings
from contextlib import nullcontext

from ...internals import dynamo_codes, dynamo_settings, dynamo_translation, torch_private
from ...internals.dynamo_state import as_if_new
from ...mini.frame_hook import guarded
from ...safety.restoring import note_end, note_interrupt
from ...safety.standard_output import redirected
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
    """Compile `call`, call it once, and return what Dynamo did.

    Everything is compiled anew, with a backend that runs the graph as it is, and no compiled code
    stays. An error of the call is not raised, but stored in the recorder.

    Parameters
    ----------
    call : callable
        What is compiled and called.
    function : FunctionType
        The Python function with which `call` starts. Instructions are recorded of users' functions
        and of the module of this one; of all others only graph breaks.
    args, kwargs : tuple, dict
        The arguments of the call.
    step_limit : int
        The number of instructions after which the record stops.
    rewritten_function : FunctionType, optional
        The function whose new code is wanted, if not that of `function`.
    own_backends : bool
        Whether compiled functions that `call` calls use their own backends.
    """
    torch_private.require_names("hook", "dynamo", "tracing", "cache")
    import torch

    recorder = TranslationRecorder(function.__globals__, step_limit)
    code = (rewritten_function or function).__code__
    with (
        as_if_new(code) as fresh,
        _running_other_graphs(fresh, own_backends) as backends_not_called,
        dynamo_settings.remove_compile_mark(call),
        dynamo_settings.collect_torch_logs(),
        dynamo_translation.report_translation(recorder) as reading_errors,
        redirected(recorder.printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        # Dynamo counts the messages of the whole process; the difference is that of this call.
        messages_before = dynamo_settings.count_unsupported_messages()
        try:
            compiled = torch.compile(call, backend=dynamo_translation.run_as_it_is)
            with guarded():
                recorder.value = compiled(*args, **(kwargs or {}))
        except KeyboardInterrupt as error:
            recorder.error = error
            note_interrupt(error)
        except BaseException as error:
            recorder.error = error
            note_end(error)

        recorder.rewritten_as = [entry.code for entry in dynamo_codes.read_cache_entries(code)]
        recorder.unsupported = [*(dynamo_settings.count_unsupported_messages() - messages_before)]

    recorder.shares_dynamo = bool(fresh.ids_of_other_threads)
    recorder.without_own_backend = bool(backends_not_called)
    recorder.barred = fresh.barred
    recorder.left_out = fresh.skipped
    recorder.reading_error = describe_error(reading_errors[0]) if reading_errors else ""
    return recorder


def _running_other_graphs(fresh, own_backends: bool):
    """Return a block in which graphs run as they are, or one that does nothing.

    `fresh` is what `as_if_new` yields. The block yields a list of the backends not called, or None.
    """
    if own_backends:
        return nullcontext()
    return dynamo_translation.skip_backends(fresh.is_of_block)
