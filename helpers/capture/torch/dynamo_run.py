"""A call under `torch.compile` -> Dynamo's translation of it in steps, or its graph breaks.

Mirrors torch/_dynamo/symbolic_convert.py, whose `step` translates one instruction, and
torch/_dynamo/convert_frame.py, where the new code object is made.
"""

from dataclasses import replace

from ...model.dynamo_records import BreakListing, DynamoRun
from ...model.phrase import end_sentence, format_count
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import read_function_name
from ..cpython.unwrapping import Unwrapped, find_watched_function
from ..text.error import describe_error
from ..text.value import short_repr
from .dynamo_breaks import list_breaks
from .dynamo_call import record_translation
from .dynamo_places import ShownCode
from .dynamo_recorder import TranslationRecorder
from .dynamo_sentences import (
    PARTLY_READ,
    describe_differences,
    describe_error_message,
    describe_interrupted_translation,
)
from .dynamo_steps import StepBuilder

MOST_STEPS = 400
EXPLAINED = "torch._dynamo.explain reports {}: the number of graphs minus one."


def record_dynamo_run(fn, /, *args, **kwargs) -> DynamoRun:
    """Run `fn(*args, **kwargs)` under torch.compile and step through Dynamo's translation of it."""
    run, _ = run_compiled(fn, args, kwargs)
    return run


def run_compiled(
    fn,
    args: tuple = (),
    kwargs: dict | None = None,
    verb: str = "watch_compile",
    steps: int = MOST_STEPS,
    own_backends: bool = True,
) -> tuple[DynamoRun, TranslationRecorder]:
    """Run `fn(*args, **kwargs)` under torch.compile; return its model, and the recorder.

    Parameters
    ----------
    fn : callable
        What is compiled and called.
    args, kwargs : tuple, dict
        The arguments of the call.
    verb : str
        The name of the public function, with which an error message begins.
    steps : int
        How many instructions the model has at most; with 0 it has graphs and breaks only.
    own_backends : bool
        If `fn` calls a function that the user has compiled, whether the backend of that function
        gets its graphs. Otherwise these graphs run as they are.
    """
    unwrapped = find_compilable(fn, verb, args)
    recorder = record_translation(
        unwrapped.call,
        unwrapped.function,
        args,
        kwargs,
        step_limit=steps,
        own_backends=own_backends,
    )
    run = _build_run(recorder, unwrapped)
    differences = " ".join(describe_differences(recorder, fn))
    return replace(run, note="\n".join(filter(None, (run.note, differences)))), recorder


def find_compilable(fn, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the Python function inside a callable, and what to call instead of the callable.

    The result has three fields: `function`; `call`, which runs the function without a compiler
    around it; and `sentences` on the layers that were taken off. TypeError, with the name of the
    verb, if there is no Python function inside.
    """
    refuse_other_framework(fn, (), verb, "PyTorch")
    return find_watched_function(fn, verb, args)


def list_graph_breaks(fn, /, *args, **kwargs) -> BreakListing:
    """Run `fn(*args, **kwargs)` under torch.compile and list its graph breaks: where, and why."""
    run, recorder = run_compiled(fn, args, kwargs, "watch_breaks", steps=0)
    unwrapped = find_compilable(fn, "watch_breaks", args)

    notes = []
    # torch's own tool counts graphs instead of breaks. A reader may compare the two.
    explained_count = len(run.graphs) - 1
    if len(run.breaks) != explained_count:
        notes.append(EXPLAINED.format(explained_count))
    if run.resumed:
        notes.append(f"It continued in {format_count(len(run.resumed), 'resume function')}.")
    notes += [run.outcome, *unwrapped.sentences, *describe_differences(recorder, fn)]

    title = f"Graph breaks of {read_function_name(unwrapped.function)}"
    return list_breaks(title, run.breaks, recorder, notes, run.outcome)


def _build_run(recorder: TranslationRecorder, unwrapped: Unwrapped) -> DynamoRun:
    """Return the model of a recorded call: its steps, breaks, graphs and how it ended.

    If the user interrupted the call before anything was recorded, KeyboardInterrupt is raised.
    """
    function = unwrapped.function
    shown = ShownCode()
    # The source of this function is added first, so that it is shown above all others.
    source, _ = shown.pages.place(function.__code__)
    builder = StepBuilder(function, shown)
    steps = tuple(builder.build_steps(recorder.events))

    is_empty = not recorder.events and not recorder.graphs
    if isinstance(recorder.error, KeyboardInterrupt) and is_empty:
        raise recorder.error

    outcome = _describe_call_ending(recorder)
    sentences = _describe_run(recorder, len(builder.breaks), outcome, unwrapped.sentences)
    note = "\n".join(filter(None, (" ".join(sentences), describe_error_message(recorder))))
    return DynamoRun(
        f"Dynamo translates {read_function_name(function)}{source.where}",
        shown.pages.text,
        steps,
        note,
        breaks=tuple(builder.breaks),
        graphs=tuple(recorder.graphs),
        resumed=tuple(shown.resume_names.values()),
        places=tuple(shown.pages.places),
        printed=recorder.printed.text(),
        outcome=outcome,
    )


def _describe_call_ending(recorder: TranslationRecorder) -> str:
    """Return what the call returned or raised, or when it was interrupted, as a sentence."""
    if isinstance(recorder.error, KeyboardInterrupt):
        return describe_interrupted_translation(recorder)
    if recorder.error is not None:
        return end_sentence(f"The call raised {describe_error(recorder.error)}")
    return end_sentence(f"The call returned {short_repr(recorder.value)}")


def _describe_run(
    recorder: TranslationRecorder,
    break_count: int,
    outcome: str,
    unwrapping: tuple[str, ...],
) -> list[str]:
    """Return the sentences below a run.

    Parameters
    ----------
    recorder : TranslationRecorder
        What was recorded of the call.
    break_count : int
        The number of graph breaks.
    outcome : str
        The sentence on what the call returned or raised.
    unwrapping : tuple of str
        Sentences on the layers around the function, such as a partial.
    """
    graphs = format_count(len(recorder.graphs), "graph")
    breaks = format_count(break_count, "graph break")
    sentences = [f"{graphs}, {breaks}.", outcome, *unwrapping]

    if not recorder.events and not recorder.graphs:
        sentences.insert(0, "Dynamo translated none of its instructions. Python ran it unchanged.")
    if recorder.reading_error:
        sentences.append(PARTLY_READ.format(recorder.reading_error))
    if recorder.has_other_modules:
        sentences.append("Instructions of other modules' functions are not shown.")
    if recorder.is_cut_off:
        sentences.append("Only the first instructions are shown.")
    return sentences
