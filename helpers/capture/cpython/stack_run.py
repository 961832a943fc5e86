"""Run a Python function, and return a step for each instruction with the value stack before it.
The function runs in CPython, whose frames are read in memory, or on a small bytecode machine that a
learner has built with `mini/vm`.
"""

import sys
from collections.abc import Mapping
from types import MethodType

from ...internals import interpreter_frame
from ...model.stack_records import Code, StackRun
from ...safety import PACKAGE
from ..text.value import describe_value, format_text
from .code_rows import CodeRows
from .following import RecordingLimits
from .objects import read_function_name
from .opcode_recorder import MOST_STEPS, InstructionRecorder
from .recorded_moments import FoldedMoments
from .stack_steps import StackStepBuilder, mark_steps_after_raise
from .unwrapping import find_watched_function


def record_instructions(
    fn, args: tuple = (), kwargs: Mapping | None = None, **options
) -> InstructionRecorder:
    """Call `fn(*args, **kwargs)` in CPython, and return the record of its instructions.

    `options` are those of `InstructionRecorder`. Raise RuntimeError if this CPython has frames
    whose layout is not known.
    """
    if interpreter_frame.find_unsupported():
        raise RuntimeError(interpreter_frame.find_unsupported())
    watched = find_watched_function(fn, "watch_stack", args)
    return InstructionRecorder(**options).run(watched, args, dict(kwargs or {}))


def record_stack_run(fn, /, *args, depth=None, only=None, most=MOST_STEPS, **kwargs) -> StackRun:
    """Call `fn(*args, **kwargs)`, and return a step for each instruction with the value stack.

    `depth`, `only` and `most` limit which calls are recorded; see the module `following`. `fn` may
    also be the method `run` of a machine of mini/vm. Then `args[0]` is the function that it runs,
    and the steps show the machine's own stack.
    """
    limits = RecordingLimits("watch_stack", depth, only, most)
    if _is_run_of_machine(fn):
        # Imported here, so that the machines are loaded only if the learner uses them.
        from .machine_steps import record_machine

        if depth is not None or only is not None or most != MOST_STEPS:
            raise TypeError("depth=, only= and most= limit a run of CPython, not of a machine")
        recorder = record_machine(fn, *args, **kwargs)
        builder = StackStepBuilder(recorder)
        title = f"{format_text(args[0].__name__)}, in {fn.__self__.called}"
        note = recorder.note
    else:
        recorder = record_instructions(fn, args, kwargs, look=describe_value, limits=limits)
        builder = StackStepBuilder(recorder)
        function = recorder.watched.function
        source, _ = builder.pages.place(function.__code__)
        title = f"{read_function_name(function)}{source.where}, instruction by instruction"
        note = _describe_record(recorder)

    # Building the steps fills the builder's codes and pages, so it comes first.
    steps = tuple(mark_steps_after_raise(builder.build_steps()))
    return StackRun(
        title=title,
        source=builder.pages.text,
        steps=steps,
        note=note,
        real=not any(tables.why_stack_is_unknown for tables in recorder.codes.values()),
        outcome=recorder.result.sentence(recorder.events, "instruction"),
        recorded=recorder.events,
        codes=tuple(_build_code(rows) for rows in builder.codes.values()),
        places=tuple(builder.pages.places),
    )


def _is_run_of_machine(fn) -> bool:
    """Return whether `fn` is the bound method `run` of a machine of mini/vm."""
    # If the module is not imported, there is no machine.
    vm = sys.modules.get(f"{PACKAGE}.mini.vm")
    return vm is not None and type(fn) is MethodType and fn.__func__ is vm.Loop.run


def _build_code(rows: CodeRows) -> Code:
    """Return the listing of one code object, beside which its steps are shown."""
    depth = rows.tables.code.co_stacksize
    return Code(
        function=rows.function, rows=tuple(rows.rows.values()), names=rows.labels, depth=depth
    )


def _describe_record(recorder: InstructionRecorder) -> str:
    """Return the sentences on how the run ended, and on what the record does not show."""
    watched = recorder.watched
    result = recorder.result
    sentences = [
        *watched.sentences,  # the wrappers that were taken off the function
        result.sentence(recorder.events, "instruction"),
        watched.describe_if_not_run(
            recorder.calls > 0
        ),  # "" unless a wrapper did not run the function
    ]
    if result.is_generator_run and result.interrupt is None:  # the call returned a generator
        sentences.append("The generator was run to its end.")
    # A `FoldedMoments` replaces the middle rounds of a loop.
    if any(type(moment) is FoldedMoments for moment in recorder.moments):
        sentences.append("Each loop shows its first two rounds and its last one.")
    if recorder.stopped:  # the record ends before the run
        sentences.append(_describe_stop(recorder))
    sentences.append(recorder.limits.note())  # how many calls were not recorded
    sentences.append(recorder.printed.note)  # that not all printed text is kept
    for tables in recorder.codes.values():
        if tables.why_stack_is_unknown:
            name = format_text(tables.code.co_name)
            reason = tables.why_stack_is_unknown
            sentences.append(f"The stack of {name} is not shown: {reason}.")
    sentences.append(result.aside)  # what the tracer has disturbed
    return " ".join(filter(None, sentences))


def _describe_stop(recorder: InstructionRecorder) -> str:
    """Return the sentence that the record ends before the run, and why."""
    reason = recorder.stopped
    if len(recorder.moments) >= recorder.most:  # not if the tracer was lost, for example
        reason = f"{reason} (most={2 * recorder.most} records more)"
    return f"{reason}; the run continued unrecorded."
