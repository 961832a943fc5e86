"""Functions that change what they reach -> a ledger: what each way does, and at which call.

TensorFlow compares the arguments of a function before and after the trace
(tensorflow/python/framework/func_graph.py, `check_func_mutation`).
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, MethodType

from ...internals import compiled_functions, torch_private
from ...model.phrase import describe_interruption
from ...model.tables import Entry, Ledger, Verdict
from ...safety import arguments, progress, restoring
from ...safety.arguments import printable
from ...safety.restoring import is_interrupted
from ..cpython.frameworks_of_callables import find_frameworks
from ..cpython.objects import read_traced_function
from . import reachable_state
from .kept_state import set_attribute
from .mutation_runs import find_function, leave_as_it_is, record_mutations
from .mutation_sentences import describe_run
from .reachable_state import ReachableState

MOST_CASES = 200
MOST_WAYS = 12
MARKS = (
    ("changed", "no error, but only some calls make the change"),
    ("refused", "TensorFlow refused the change"),
    ("failed", "an error of another kind, or a graph tensor that outlived its graph"),
)
CASES = "name -> a function, or (function, *arguments)"
WAYS = "heading -> a callable that accepts a function and returns one"
PLAIN_WAY = "plain Python"
TITLE = "Which changes of arguments, globals and closures does {} notice, or lose at a {}?"
NO_FRAMEWORK = (
    "Neither TensorFlow nor PyTorch is imported, so only plain Python was run. Import one "
    "to compare its way, or pass ways=."
)
MODULES_BY_FRAMEWORK = {"TensorFlow": "tensorflow", "PyTorch": "torch"}

Case = tuple[str, object]


def build_mutations_ledger(
    cases: Mapping[str, object], ways: Mapping[str, Callable] | None = None
) -> Ledger:
    """Return a ledger with a row for each case and a verdict for each way.

    Each function is called twice in each way. The row says which ways raise, what a call changes,
    and at which call. `cases` and `ways` are those of `watch_mutations`.
    """
    has_default_ways = ways is None
    # The default ways are chosen below, by what the checked cases use.
    checked_ways = (
        [] if has_default_ways else arguments.require_dict(ways, "ways=", WAYS, MOST_WAYS)
    )
    for name, way in checked_ways:
        arguments.require_function(way, f"the way '{printable(name)}'")
    checked_cases = arguments.require_dict(cases, "watch_mutations", CASES, MOST_CASES)
    if has_default_ways:
        checked_ways = list(_find_default_ways(checked_cases).items())

    notes = []
    entries = []
    frameworks = set()
    with _setting_at_the_end() as set_of_libraries:
        for name, case in progress.counted("case", checked_cases):
            entry = _run_case(name, case, checked_ways, frameworks, set_of_libraries)
            if entry is None:  # Ctrl-C
                if not entries:  # there is nothing to show
                    raise KeyboardInterrupt
                notes.append(describe_interruption(len(entries), "case"))
                break
            entries.append(entry)

    if has_default_ways and len(checked_ways) == 1:
        notes.append(NO_FRAMEWORK)
    headings = tuple(printable(name) for name, _ in checked_ways)
    return Ledger(
        _format_title(frameworks),
        "the body's change",
        headings,
        tuple(entries),
        " ".join(notes),
        marks=MARKS,
    )


def _run_case(
    name: str, case, ways: list, frameworks: set[str], set_of_libraries: dict
) -> Entry | None:
    """Run one case in each way, and return its row; None if Ctrl-C has interrupted it.

    The names of the frameworks that ran the function are added to `frameworks`. What it set of
    libraries is added to `set_of_libraries`; it is restored until all cases have run.
    """
    function, *args = arguments.split_case(case)
    arguments.require_function(function, f"the case '{printable(name)}'")
    function = compiled_functions.find_original(function)
    function = read_traced_function(find_function(function)) or function

    verdicts = []
    sentences = {}  # as a set with an order
    for _, way in ways:
        verdict, way_sentences = _run_way(function, args, way, frameworks, set_of_libraries)
        if is_interrupted():
            return None
        verdicts.append(verdict)
        sentences |= dict.fromkeys(way_sentences)
    if is_interrupted():
        return None
    return Entry(printable(name), tuple(verdicts), "; ".join(sentences))


def _run_way(
    function, args: list, way: Callable, frameworks: set[str], set_of_libraries: dict
) -> tuple[Verdict, list[str]]:
    """Run a function in one way; return the verdict, and sentences on what it leaves out.

    `frameworks` and `set_of_libraries` are those of `_run_case`. What the run keeps alive is freed
    here, before the next way runs.
    """
    run = record_mutations(function, copy_containers(args), way)
    frameworks |= run.frameworks
    set_of_libraries |= run.set_of_libraries
    return describe_run(run)


def _format_title(frameworks: set[str]) -> str:
    """Return the question that the ledger answers for the frameworks that ran the functions."""
    second_call = "hit" if frameworks == {"TensorFlow"} else "second call"
    subject = " or ".join(sorted(frameworks, reverse=True)) or "each way"
    return TITLE.format(subject, second_call)


def _find_default_ways(cases: list[Case]) -> dict[str, Callable]:
    """Return plain Python, and the ways of those imported frameworks that the cases use."""
    loaded = {
        framework
        for framework, module_name in MODULES_BY_FRAMEWORK.items()
        if restoring.module(module_name)
    }
    used = set()
    for _, case in cases:
        function, *args = case if type(case) is tuple and case else (case,)
        used |= find_frameworks(function, tuple(args)) & loaded
    if not used:
        # Plain Python could run in either; this verb is first of all about TensorFlow.
        used = loaded & {"TensorFlow"} or loaded

    ways = {PLAIN_WAY: leave_as_it_is}
    if "TensorFlow" in used:
        ways["tf.function"] = restoring.module("tensorflow").function
    if "PyTorch" in used:
        ways["torch.compile"] = _compile_copy
    return ways


def _compile_copy(function):
    """Return what torch.compile makes of a copy: Dynamo caches nothing with the original code."""
    torch_private.refuse_late_dynamo()
    import torch

    return torch.compile(_copy_function(function), backend="eager")


def _copy_function(function):
    """Return a function with a copy of the code, or one that calls what is no Python function."""
    if type(function) is MethodType:
        return MethodType(_copy_function(function.__func__), function.__self__)
    if type(function) is not FunctionType:
        return _copy_function(lambda *args, **kwargs: function(*args, **kwargs))
    code = function.__code__.replace()
    copied = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def copy_containers(args: list) -> list:
    """Return a copy of containers and of plain objects, to any depth, around the same leaves."""
    reachable = ReachableState([("", args)], follows_code=False)
    if reachable.is_cut:
        needed = "each run needs fresh ones; pass smaller arguments"
        limit = f"{reachable_state.MOST_OBJECTS:,} objects"
        raise ValueError(f"a case contains more than {limit}, and {needed}")
    # `deepcopy` takes an object from its memo instead of copying the object.
    leaves_by_id = {id(leaf): leaf for leaf in reachable.leaves}
    return copy.deepcopy(args, leaves_by_id)


@contextmanager
def _setting_at_the_end() -> Iterator[dict[tuple[int, str], tuple[object, str, object]]]:
    """Yield a dict for attributes of libraries, which are set again when the block ends.

    Each value is a class or module, a name, and the value to set; the keys are by id and name.
    """
    attributes = {}
    try:
        yield attributes
    finally:
        for space, name, value in attributes.values():
            set_attribute(space, name, value)
