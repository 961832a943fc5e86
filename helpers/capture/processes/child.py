"""A function or source code -> what it printed or returned in a child interpreter.

A child is a separate Python process, for code that may end or spoil an interpreter. It is *forked*
from a process that has already imported TensorFlow, which saves seconds, or it is started anew.
Each child works in an empty folder of its own. It is stopped at a time limit, on Ctrl-C, and when
the notebook's kernel ends.
"""

import os
import re
from collections.abc import Callable, Mapping

from ...model.transcripts import Transcript, Transcripts
from ...safety import PACKAGE, missing_parts, progress
from ...safety.arguments import real_isinstance
from ...safety.child_side import why_not_json
from ...safety.children import (
    CAN_FORK,
    ChildResult,
    ProcessResult,
    ask_child,
    ask_forked_child,
    signal_name,
)
from ...safety.restoring import is_interrupted
from ..text.error import suggest_function_of_module
from ..text.value import short_repr
from .child_texts import format_error, hide_machine
from .portable_source import build_portable_source, read_own_source, require_def

PREAMBLE = "import tensorflow as tf"
# What the process imports from which children are forked. triton comes first, because it needs its
# own copy of LLVM to be loaded before TensorFlow's.
PRELOAD = ("triton", "tensorflow", f"{PACKAGE}.mini.eager")
SECONDS = 60  # for a child whose output is shown
SECONDS_OF_A_CALL = 240
_UNDEFINED_NAME = re.compile(r"NameError: name '(\w+)' is not defined\b.*")


def record_children(*what, title: str = "", imports: str | None = None) -> Transcripts:
    """Run functions without arguments, or source code, each in its own child interpreter.

    `what` are the functions and texts, and the result has a transcript for each. `imports` is
    source that each child runs first, or None for `PREAMBLE`. After Ctrl-C, the remaining ones are
    not run.
    """
    if not what:
        raise TypeError("watch_in_child needs a function, or a piece of source, to run")
    runs: list[Transcript] = []
    for program in what:
        runs.append(_record_program(program, imports))
        if is_interrupted():
            break
    if not title:
        names = ", ".join(run.label for run in runs if run.label)
        title = f"In a child process: {names}" if names else "In a child process"
    return Transcripts(title, tuple(runs))


def _record_program(program: object, imports: str | None) -> Transcript:
    """Run a function without arguments, or source code, in a child; return the transcript.

    `imports` is that of `record_children`. Raise TypeError if `program` is neither.
    """
    if callable(program):
        # The child gets the source of the function, and a line that calls it.
        source = build_portable_source(program)
        name = program.__code__.co_name
        # The notebook shows the function already, so the transcript shows only its name.
        return record_transcript(f"{name}()", f"{source}\n\n{name}()\n", shown="", imports=imports)
    if real_isinstance(program, str):
        return record_transcript("", program, shown=program, imports=imports)
    description = f"{short_repr(program)}{suggest_function_of_module(program)}"
    raise TypeError(f"a child runs a function or source, not {description}")


def record_transcript(
    label: str, source: str, shown: str, imports: str | None = None
) -> Transcript:
    """Run source in a child, and return what it printed and how it ended.

    `label` names the run, and `shown` is the part of the source that a reader sees. `imports` is
    that of `record_children`.
    """
    reply = run_child(source, SECONDS, imports)
    return Transcript(
        label=label,
        source=shown,
        printed="\n".join(hide_machine(line) for line in reply["printed"].splitlines()),
        error=format_error(reply["error"]),
        code=reply["code"],
        cut=reply["cut"],
        seconds=SECONDS,
    )


def run_child(source: str, seconds: float = SECONDS, imports: str | None = None) -> dict:
    """Run source in a child, for at most so many seconds, after `imports` or `PREAMBLE`.

    Returns
    -------
    dict
        "printed" is all output, and "error" the exception that ended the child, as text, or "".
        "code" is the exit code, or minus the number of the signal that ended the child. "cut" is
        one of CUTS if the child was stopped, which says why, else "". "told" are the messages that
        the source has sent to this process, in order.
    """
    # The process from which children are forked has run `PREAMBLE` already, and nothing else.
    if CAN_FORK and imports is None:
        reply = ask_forked_child(PREAMBLE, source, seconds, PRELOAD, shows=True)
        _require_fork(reply)
    else:
        preamble = PREAMBLE if imports is None else imports
        # With a fixed seed, the order of a set is the same in each run. The fault handler is off,
        # because it would print the stack of a crash.
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": ""}
        reply = ask_child({"source": f"{preamble}\n{source}"}, seconds, environment, shows=True)
    return {
        "printed": reply.ended.out,
        "error": reply.last("error", ""),
        "cut": _name_cut(reply.ended),
        "code": reply.ended.code,
        "told": reply.told,
    }


def _name_cut(result: ProcessResult) -> str:
    """Return the key of `CUTS` for what stopped a child, or "" if it ended by itself."""
    if result.hit_time_limit:
        return "late"
    if result.hit_memory_limit:
        return "large"
    if result.hit_output_limit:
        return "flood"
    return "interrupted" if result.interrupted else ""


def _require_fork(reply: ChildResult) -> None:
    """Raise RuntimeError if the process from which children are forked could not be started.

    `reply` is that of the child. Raise MissingPart instead if a package is missing.
    """
    failure = reply.last("failed")
    if not failure:
        return
    _raise_if_part_is_missing(failure)
    raise RuntimeError(f"no child can be forked: {failure}")


def _raise_if_part_is_missing(error: str) -> None:
    """Raise MissingPart, which says what to install, if an error is about a missing package.

    `error` is the last line of a traceback. Return if the error is about anything else.
    """
    sentence = missing_parts.describe_missing_module_line(error)
    if sentence:
        raise missing_parts.MissingPart(sentence)


def call_in_child(fn: Callable, /, *args) -> object:
    """Run `fn(*args)` from its source in a child interpreter, and return the result.

    Only the source of `fn` is sent, and the arguments as JSON. Raise TypeError if `fn` or an
    argument cannot be sent, and RuntimeError if the function fails in the child.
    """
    require_def(fn)
    source = read_own_source(fn, error=TypeError)
    name = fn.__code__.co_name
    if fn.__code__.co_freevars:  # the source alone does not define them
        variables = ", ".join(fn.__code__.co_freevars)
        raise TypeError(
            f"{name} uses {variables} of an enclosing function, which is not sent along"
        )
    faults = [fault for fault in map(why_not_json, args) if fault]
    if faults:
        accepted = "arguments of dicts, lists, text and numbers"
        raise TypeError(f"call_in_child accepts {accepted}, not {faults[0]}")

    with progress.report_activity(f"running {name}"):
        request = {"source": f"{source}\n", "name": name, "args": args}
        reply = ask_child(request, SECONDS_OF_A_CALL)
    return _read_result(reply, name, fn.__globals__)


def _read_result(reply: ChildResult, name: str, global_names: Mapping[str, object]) -> object:
    """Return what a function returned in a child, or raise an error if it returned nothing.

    `name` is that of the function. `global_names` are the names of the notebook, which the child
    does not have. A NameError there is explained by them.
    """
    for message in reply.told:
        if "result" in message:
            return message["result"]

    fault = reply.last("fault")
    if fault:
        raise TypeError(f"{name} returned {fault}, which cannot be sent as JSON")
    if reply.ended.hit_time_limit:
        raise RuntimeError(f"{name} did not end within {SECONDS_OF_A_CALL} seconds")
    if reply.ended.hit_memory_limit:
        raise RuntimeError(f"{name} took more than half of this machine's memory")

    error = _read_error(reply)
    _raise_if_part_is_missing(error)
    undefined = _UNDEFINED_NAME.fullmatch(error)
    if undefined and undefined[1] in global_names:
        error += ", because this notebook's names are not there: import it inside, or pass it in"
    raise RuntimeError(f"{name} failed in its own interpreter: {error}")


def _read_error(reply: ChildResult) -> str:
    """Return in one line what ended a child: a signal, an exception, or an exit code."""
    if reply.ended.code < 0:  # minus the number of a signal
        return f"it was killed: {signal_name(-reply.ended.code)}"
    error = reply.last("error") or f"it ended with {reply.ended.code}"
    if error.startswith('File "'):  # a SyntaxError has its place before its message
        return error.splitlines()[-1]
    return error
