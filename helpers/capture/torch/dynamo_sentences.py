"""Sentences on how a recorded run went, and on what is different in the user's own program.

A run compiles everything anew. In the user's program, Dynamo may have a function in its cache, may
have decided to skip it, or may be turned off.
"""

from types import CodeType

from ...internals import compiled_functions
from ...model.phrase import describe_interruption, end_sentence
from .dynamo_messages import (
    format_file_line,
    format_whole_message,
    split_message,
)
from .dynamo_places import is_shared_wrapper, qualified_name
from .dynamo_recorder import TranslationRecorder

TURNED_OFF = "Dynamo compiles nothing new while {} is set."
DISABLED = (
    "torch.compiler.disable keeps Dynamo out of this function, so in your program Python "
    "runs it. This is what Dynamo does without it."
)
FRESH = "This is a fresh compile. In your program "
# what torch decided about a code object earlier -> the sentence
BARRED = {
    "SKIP": "Dynamo skips {}, because of an earlier call, such as one in a dispatch mode: Python "
    "runs it, compiled or not, until torch._dynamo.reset().",
    "RUN_ONLY": "Dynamo compiles {} no more, since it reached the recompile limit: Python runs the "
    "calls that fit no entry.",
}
OF_TORCH = ", the frame that torch puts around what it cannot start with"
SHARED_WRAPPER = (
    "In your program, torch.compile of this turns Dynamo off for all modules of torch.nn that "
    "are compiled by themselves, until torch._dynamo.reset(), because they share the frame inner."
)
STUCK = (
    "torch's evaluator of frames is in the interpreter's slot, as an error of torch leaves it; "
    "helpers.mini.frame_hook.put_back() takes it out."
)
OTHER_THREAD = (
    "Another thread used Dynamo during this run, so what Dynamo counts has both, and that thread "
    "may compile again."
)
NOT_KNOWN = (
    "Why Dynamo compiled nothing is not known: it broke no graph, and gave no reason for "
    "a frame that it left to Python."
)
PARTLY_READ = "Not all of it could be read on this torch ({})."


def describe_nothing_compiled(recorder: TranslationRecorder) -> str:
    """Return a sentence that says why Dynamo compiled nothing, or that the reason is unknown.

    The reasons are Dynamo's own messages.
    """
    reasons = []
    for message in recorder.unsupported:
        cause, explanation = split_message(message)
        reasons.append(f"{cause}: {explanation}" if explanation else cause)

    if not reasons:
        return NOT_KNOWN
    return f"Dynamo gave up: {' '.join(map(end_sentence, reasons))}"


def describe_error_message(recorder: TranslationRecorder) -> str:
    """Return the whole message of the error that the call raised, if it has several lines.

    Return "" if the call raised nothing, or if the message is one short line. Other sentences of
    the run have such a line already.
    """
    if recorder.error is None:
        return ""
    message = format_whole_message(recorder.error)
    return f"The whole message:\n{message}" if message else ""


def describe_interrupted_translation(recorder: TranslationRecorder) -> str:
    """Return a sentence on after how many instructions or graphs the user interrupted the call."""
    instructions = sum(event.kind == "instruction" for event in recorder.events)
    if instructions:
        return describe_interruption(instructions, "instruction")
    return describe_interruption(len(recorder.graphs), "graph")


def describe_differences(recorder: TranslationRecorder, fn) -> list[str]:
    """Return a sentence for each way in which the user's program differs from this run.

    `fn` is the callable that the user passed.
    """
    sentences = []
    if recorder.disabling_setting:
        sentences.append(TURNED_OFF.format(recorder.disabling_setting))
    if compiled_functions.is_disabled(fn) and not recorder.disabling_setting:
        sentences.append(DISABLED)
    for code, action in recorder.barred_codes:  # compiled in this run, but not in the program
        sentences.append(FRESH + describe_barred_code(code, action))
    if any(map(is_shared_wrapper, recorder.codes_to_skip)):
        sentences.append(SHARED_WRAPPER)
    if recorder.is_slot_stuck:
        sentences.append(STUCK)
    if recorder.shares_dynamo:
        sentences.append(OTHER_THREAD)
    return sentences


def describe_barred_code(code: CodeType, action: str) -> str:
    """Return a sentence that says that Dynamo does not compile frames of this code, and why.

    `action` is torch's decision about the code: "SKIP" if Python runs all its frames, "RUN_ONLY"
    if torch still uses cache entries but compiles no new ones.
    """
    name = qualified_name(code) + format_file_line(code.co_filename, code.co_firstlineno)
    if is_shared_wrapper(code):
        name += OF_TORCH
    return BARRED[action].format(name)
