"""Guard sets of one function -> a table of the calls that one accepts and another refuses.

A guard set is a function of a call's arguments. It returns whether compiled code may be used for
the call. One guard set is Dynamo's, compiled for a first call; the others are the learner's. The
calls differ from the first call in one thing each (`tried_calls`).
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
from ...safety.restoring import note_interrupt, raise_after_verb
from ..cpython.objects import read_function_name
from ..text.error import describe_error
from ..text.value import format_label
from .compiled_function import add_bound_arguments, find_compiled_function
from .compiler_guards import DynamoGuards, MiniDynamoGuards
from .repeated_runs import save_random_numbers
from .tried_calls import TriedCall, list_neighbours

# (tone of a cell, what the tone means)
MARKS = (("refused", "this one refuses the call"), ("failed", "an error instead of an answer"))
# answer of a guard set -> tone of its cell
TONES = {"accepts": "plain", "refuses": "refused", "raises": "failed"}
MOST_ROWS = 12
MOST_SETS = 100  # of guards, to compare


@dataclass(frozen=True)
class GuardSetAnswer:
    """What a guard set says of a call."""

    #: "accepts", "refuses" or "raises"
    word: str
    #: the text of the guard that refuses, or of the error; "" for none
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
    supplied_names = _list_supplied_names(fn)
    function, _ = find_compiled_function(fn)
    args, kwargs = add_bound_arguments(fn, args, kwargs)
    # The compilers' guard sets are asked about all calls first, because Dynamo's caches are set
    # aside for that. The learner's guard sets are asked below, one call after the other.
    calls, name, compilers_answers = _ask_compilers(
        function, args, kwargs, supplied_names, with_mini=not sets_by_name
    )
    headings = (*(sets_by_name or ["mini"]), "Dynamo")

    rows = []
    asked_count = 0
    interruption = ""  # a sentence, if the user interrupts
    for call, answers_of_compilers in zip(calls, compilers_answers, strict=True):
        try:
            answers = _ask_guard_sets(sets_by_name, call, supplied_names)
        except KeyboardInterrupt as error:
            if not asked_count:
                raise  # there is nothing to show
            note_interrupt(error)
            interruption = describe_interruption(asked_count, "call")
            break
        asked_count += 1
        answers += answers_of_compilers
        # Only calls on which the guard sets differ have a row.
        if len({answer.word for answer in answers}) > 1:
            rows.append(_build_row(call, headings, answers))

    return Ledger(
        title=f"Calls of {name} that one set of guards accepts and another refuses",
        subject="call",
        headings=headings,
        entries=tuple(rows[:MOST_ROWS]),
        note=_write_note(len(rows), asked_count, interruption),
        marks=MARKS,
    )


def _require_guard_sets(guard_sets) -> dict[str, Callable]:
    """Return the guard sets by name, {} for None; TypeError if they are not a dict of functions."""
    if guard_sets is None:
        return {}
    pairs = require_dict(guard_sets, "guard_sets=", "name -> function of the arguments", MOST_SETS)
    for name, guard_set in pairs:
        if not callable(guard_set):
            raise TypeError(
                f"{name} must be a function of the arguments, not {format_label(guard_set)}"
            )
    return dict(pairs)


def _list_supplied_names(fn: Callable) -> set[str]:
    """Return the names of the arguments that a caller of `fn` does not pass.

    These are `self` of a method, and the arguments that a partial supplies.
    """
    supplied_args, supplied_kwargs = add_bound_arguments(fn, (), {})
    function, _ = find_compiled_function(fn)
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters)
    return {*parameters[: len(supplied_args)], *supplied_kwargs}


def _ask_compilers(
    fn: Callable, args: tuple, kwargs: dict, supplied_names: set[str], with_mini: bool
) -> tuple[list[TriedCall], str, list[list[GuardSetAnswer]]]:
    """Return the calls to try, the function's name, and the compilers' answers to each call.

    The compilers are Dynamo and, if requested, the mini-Dynamo of this course. Each compiler calls
    the function once. Afterwards random numbers, Dynamo's counts and its caches are as before. The
    last item of the result has for each call a list with the answer of each compiler.

    Parameters
    ----------
    fn : callable
        The function.
    args, kwargs : tuple, dict
        The arguments of the first call.
    supplied_names : set of str
        The names of the arguments that no call may change.
    with_mini : bool
        Whether the mini-Dynamo is asked, too. Its answer comes before Dynamo's.
    """
    restore_random_numbers = save_random_numbers()
    try:
        with (
            as_if_new_where_possible(),  # Dynamo's caches are empty in this block
            dynamo_settings.collect_torch_logs(),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            dynamo_guards = DynamoGuards(fn, *args, **kwargs)
            compilers = [dynamo_guards]
            if with_mini:
                compilers.insert(0, MiniDynamoGuards(fn, *args, **kwargs))
            calls = _list_calls(dynamo_guards, supplied_names)
            answers = []
            for call in calls:
                with call.make_context():  # in which a global or a mode of torch is changed
                    answers_to_call = [
                        _ask_guard_set(compiler, call.arguments) for compiler in compilers
                    ]
                answers.append(answers_to_call)
            return calls, read_function_name(dynamo_guards.function), answers
    finally:
        restore_random_numbers()


def _list_calls(dynamo_guards: DynamoGuards, supplied_names: set[str]) -> list[TriedCall]:
    """Return the calls close to the first one in which no supplied argument is changed.

    A caller cannot change `self` of a method or an argument of a partial.
    """
    first = dynamo_guards.first_arguments
    return [
        call
        for call in list_neighbours(dynamo_guards.function, first)
        if all(call.arguments[name] is first[name] for name in supplied_names)
    ]


def _ask_guard_sets(
    sets_by_name: dict[str, Callable], call: TriedCall, supplied_names: set[str]
) -> list[GuardSetAnswer]:
    """Return the answer of each of the learner's guard sets to a call.

    The guard sets get the arguments that a caller passes, without those in `supplied_names`.
    """
    with call.make_context():
        arguments = {
            name: value for name, value in call.arguments.items() if name not in supplied_names
        }
        return [_ask_guard_set(guard_set, arguments) for guard_set in sets_by_name.values()]


def _ask_guard_set(guard_set, arguments: dict) -> GuardSetAnswer:
    """Return whether a guard set accepts the arguments, or which error it raises.

    A compiler's guard set also tells which guard refuses.
    """
    try:
        if real_isinstance(guard_set, DynamoGuards, MiniDynamoGuards):
            failed_guard = guard_set.find_failing_guard(**arguments)
            if failed_guard is None:
                return GuardSetAnswer("accepts")
            return GuardSetAnswer("refuses", str(failed_guard))
        return GuardSetAnswer("accepts" if guard_set(**arguments) else "refuses")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well, because it must not end the kernel
        raise_after_verb(error)
        return GuardSetAnswer("raises", describe_error(error))


def _build_row(call: TriedCall, headings: tuple[str, ...], answers: list[GuardSetAnswer]) -> Entry:
    """Return the row of a call on which guard sets differ.

    `headings` are the names of the guard sets, and `answers` their answers in the same order.
    """
    verdicts = tuple(Verdict(answer.word, TONES[answer.word]) for answer in answers)
    notes = [
        f"{heading}: {answer.note}"
        for heading, answer in zip(headings, answers, strict=True)
        if answer.note
    ]
    return Entry(call.change, verdicts, "; ".join(notes))


def _write_note(row_count: int, asked_count: int, interruption: str) -> str:
    """Return the note below the table, such as `On 12 of 15 calls, all agree.`

    `interruption` is a sentence that says that the user interrupted the search, or "".
    """
    note = f"On {asked_count - row_count} of {asked_count} calls, all agree."
    if interruption:
        note = f"{interruption} {note}"
    if row_count > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {row_count} counter-examples."
    return note
