"""Guard sets of one function -> the calls that one accepts and another refuses.

A guard set is a function of the arguments. It returns whether it accepts them. The real one is what
Dynamo compiled for a first call. The calls tried are close to the first one: `tried_calls`.
"""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...internals import dynamo_settings, torch_private
from ...internals.dynamo_state import as_if_new_where_possible
from ...model.phrase import describe_interruption
from ...model.tables import Entry, Ledger, Verdict
from ...safety.arguments import real_isinstance, require_dict
from ...safety.restoring import note_end, note_interrupt
from ..cpython.objects import read_function_name
from ..text.error import describe_error
from ..text.value import format_label
from .compiled_function import add_bound_arguments, find_compiled_function
from .compiler_guards import DynamoGuards, MiniDynamoGuards
from .repeated_runs import save_random_numbers
from .tried_calls import TriedCall, list_neighbours

MARKS = (("refused", "this one refuses the call"), ("failed", "an error instead of an answer"))
TONES = {"accepts": "plain", "refuses": "refused", "raises": "failed"}
MOST_ROWS = 12
MOST_SETS = 100  # of guards, to compare


@dataclass(frozen=True)
class GuardSetAnswer:
    """What a guard set says of a call."""

    #: "accepts", "refuses" or "raises"
    word: str
    #: the guard that refuses, or the error; "" for none
    note: str = ""


def compare_guard_sets(
    fn: Callable, args: tuple, kwargs: dict, guard_sets: Mapping | None = None
) -> Ledger:
    """Return a table of calls close to `fn(*args, **kwargs)` on which guard sets differ.

    The guards that Dynamo compiles for the first call are always one of the sets.

    Parameters
    ----------
    fn : callable
        What is called.
    args, kwargs : tuple, dict
        The arguments of the first call.
    guard_sets : dict of str to callable, optional
        Name -> guard set. Without any, the mini-Dynamo's guards are compared with Dynamo's.
    """
    sets_by_name = _require_guard_sets(guard_sets)
    torch_private.require_names("dynamo", "cache")
    supplied = _list_supplied_names(fn)
    function, _ = find_compiled_function(fn)
    args, kwargs = add_bound_arguments(fn, args, kwargs)
    # The compilers are asked first, all calls at once, while Dynamo's state is set aside. The
    # learner's guard sets are asked below, one call after the other.
    calls, name, compilers_answers = _ask_compilers(
        function, args, kwargs, supplied, with_mini=not sets_by_name
    )
    headings = (*(sets_by_name or ["mini"]), "Dynamo")

    rows = []
    asked_count = 0
    stopped = ""
    for call, known_answers in zip(calls, compilers_answers, strict=True):
        try:
            answers = _ask_guard_sets(sets_by_name, call, supplied)
        except KeyboardInterrupt as error:
            if not asked_count:
                raise  # there is nothing to show
            note_interrupt(error)
            stopped = describe_interruption(asked_count, "call")
            break
        asked_count += 1
        answers += known_answers
        if len({answer.word for answer in answers}) > 1:
            rows.append(_build_row(call, headings, answers))

    return Ledger(
        title=f"Calls of {name} that one set of guards accepts and another refuses",
        subject="call",
        headings=headings,
        entries=tuple(rows[:MOST_ROWS]),
        note=_write_note(len(rows), asked_count, stopped),
        marks=MARKS,
    )


def _require_guard_sets(guard_sets) -> dict[str, Callable]:
    """Return the guard sets by name; TypeError if they are not a dict of functions."""
    if guard_sets is None:
        return {}
    pairs = require_dict(guard_sets, "guard_sets=", "name -> function of the arguments", MOST_SETS)
    for name, accepts in pairs:
        if not callable(accepts):
            raise TypeError(
                f"{name} must be a function of the arguments, not {format_label(accepts)}"
            )
    return dict(pairs)


def _list_supplied_names(fn: Callable) -> set[str]:
    """Return the names of arguments that a caller does not pass: `self`, and those of a partial."""
    supplied_args, supplied_kwargs = add_bound_arguments(fn, (), {})
    function, _ = find_compiled_function(fn)
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters)
    return {*parameters[: len(supplied_args)], *supplied_kwargs}


def _ask_compilers(
    fn: Callable, args: tuple, kwargs: dict, supplied: set[str], with_mini: bool
) -> tuple[list[TriedCall], str, list[list[GuardSetAnswer]]]:
    """Return the calls to try, the function's name, and what the compilers say of each call.

    Each compiler calls the function once. Afterwards random numbers, Dynamo's counts and its cache
    are as before.

    Parameters
    ----------
    fn : callable
        The function.
    args, kwargs : tuple, dict
        The arguments of the first call.
    supplied : set of str
        The names of arguments that no call changes.
    with_mini : bool
        Whether the mini-Dynamo is asked, too. Its answer comes first.
    """
    restore_random_numbers = save_random_numbers()
    try:
        with (
            as_if_new_where_possible(),
            dynamo_settings.collect_torch_logs(),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            dynamo_guards = DynamoGuards(fn, *args, **kwargs)
            compilers = [dynamo_guards]
            if with_mini:
                compilers.insert(0, MiniDynamoGuards(fn, *args, **kwargs))
            calls = _list_calls(dynamo_guards, supplied)
            answers = []
            for call in calls:
                with call.make_context():
                    answers_to_call = [
                        _ask_guard_set(compiler, call.arguments) for compiler in compilers
                    ]
                answers.append(answers_to_call)
            return calls, read_function_name(dynamo_guards.function), answers
    finally:
        restore_random_numbers()


def _list_calls(dynamo_guards: DynamoGuards, supplied: set[str]) -> list[TriedCall]:
    """Return the neighbours of the first call in which all supplied arguments are unchanged."""
    first = dynamo_guards.first_arguments
    return [
        call
        for call in list_neighbours(dynamo_guards.function, first)
        if all(call.arguments[name] is first[name] for name in supplied)
    ]


def _ask_guard_sets(
    sets_by_name: dict[str, Callable], call: TriedCall, supplied: set[str]
) -> list[GuardSetAnswer]:
    """Return what the learner's guard sets say of a call; they get no supplied arguments."""
    with call.make_context():
        arguments = {name: value for name, value in call.arguments.items() if name not in supplied}
        return [_ask_guard_set(accepts, arguments) for accepts in sets_by_name.values()]


def _ask_guard_set(accepts, arguments: dict) -> GuardSetAnswer:
    """Return what one guard set says of a call; an error is an answer as well."""
    try:
        if real_isinstance(accepts, DynamoGuards, MiniDynamoGuards):
            failed_guard = accepts.find_failing_guard(**arguments)
            if failed_guard is None:
                return GuardSetAnswer("accepts")
            return GuardSetAnswer("refuses", str(failed_guard))
        return GuardSetAnswer("accepts" if accepts(**arguments) else "refuses")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: it is an answer like any other
        note_end(error)
        return GuardSetAnswer("raises", describe_error(error))


def _build_row(call: TriedCall, headings: tuple[str, ...], answers: list[GuardSetAnswer]) -> Entry:
    """Return the row of a call on which guard sets differ."""
    verdicts = tuple(Verdict(answer.word, TONES[answer.word]) for answer in answers)
    notes = [
        f"{heading}: {answer.note}"
        for heading, answer in zip(headings, answers, strict=True)
        if answer.note
    ]
    return Entry(call.change, verdicts, "; ".join(notes))


def _write_note(row_count: int, asked_count: int, stopped: str) -> str:
    """Return the note of the ledger; `stopped` says that the learner interrupted the search."""
    note = f"On {asked_count - row_count} of {asked_count} calls, all agree."
    if stopped:
        note = f"{stopped} {note}"
    if row_count > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {row_count} counter-examples."
    return note
