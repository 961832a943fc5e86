"""Functions that change what they reach -> a ledger: what each way does, and at which call. A
*case* is a function with its arguments, and a row of the ledger. A *way* is how a function is run:
as plain Python, as a tf.function, by torch.compile. It has a column. TensorFlow compares the
arguments of a function before and after the trace (tensorflow/python/framework/func_graph.py,
`check_func_mutation`).
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
from .mutation_runs import leave_as_it_is, record_mutations, unwrap_recorder
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

    `cases` maps a name to a function, or to (function, *arguments). `ways` maps a heading to a
    callable that accepts a function and returns one; None stands for plain Python and the imported
    frameworks. Each function is called twice in each way. After Ctrl-C, the ledger has the rows
    that were finished.
    """
    has_default_ways = ways is None
    checked_ways = []  # pairs (heading, way)
    if not has_default_ways:
        checked_ways = arguments.require_dict(ways, "ways=", WAYS, MOST_WAYS)
    for name, way in checked_ways:
        arguments.require_function(way, f"the way '{printable(name)}'")
    checked_cases = arguments.require_dict(cases, "watch_mutations", CASES, MOST_CASES)
    if has_default_ways:
        checked_ways = list(_find_default_ways(checked_cases).items())

    notes = []
    entries = []
    frameworks = set()  # those that ran a function
    with _setting_again_at_the_end() as library_settings:
        for name, case in progress.report_each("case", checked_cases):
            entry = _run_case(name, case, checked_ways, frameworks, library_settings)
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
    name: str, case, ways: list, frameworks: set[str], library_settings: dict
) -> Entry | None:
    """Run one case in each way, and return its row; None if Ctrl-C has interrupted it.

    `ways` are pairs (heading, way). Two of the arguments are extended. `frameworks` gets the names
    of the frameworks that ran the function. `library_settings` gets the attributes of libraries
    that the function set, in the form that `_setting_again_at_the_end` describes. These attributes
    have their old values while the other cases run.
    """
    function, *args = arguments.split_case(case)
    arguments.require_function(function, f"the case '{printable(name)}'")
    # The Python function is needed, so that each way can make its own callable of it.
    function = compiled_functions.find_original(function)
    function = read_traced_function(unwrap_recorder(function)) or function

    verdicts = []
    sentences = {}  # as a set with an order
    for _, way in ways:
        verdict, way_sentences = _run_way(function, args, way, frameworks, library_settings)
        if is_interrupted():
            return None
        verdicts.append(verdict)
        sentences |= dict.fromkeys(way_sentences)
    if is_interrupted():  # also if there is no way at all
        return None
    return Entry(printable(name), tuple(verdicts), "; ".join(sentences))


def _run_way(
    function, args: list, way: Callable, frameworks: set[str], library_settings: dict
) -> tuple[Verdict, list[str]]:
    """Run a function in one way; return its verdict, and sentences on what was not compared.

    `frameworks` and `library_settings` are extended as in `_run_case`. The record of the run keeps
    objects of the program alive. It is dropped when this function returns, before the next run.
    """
    run = record_mutations(function, copy_containers(args), way)
    frameworks |= run.frameworks
    library_settings |= run.library_settings
    return describe_run(run)


def _format_title(frameworks: set[str]) -> str:
    """Return the title: the question that the ledger answers on the frameworks that ran."""
    second_call = "hit" if frameworks == {"TensorFlow"} else "second call"
    subject = " or ".join(sorted(frameworks, reverse=True)) or "each way"
    return TITLE.format(subject, second_call)


def _find_default_ways(cases: list[Case]) -> dict[str, Callable]:
    """Return heading -> way: plain Python, and the frameworks that are imported and that cases use.

    A case uses a framework if its function or an argument belongs to that. If no case uses any, the
    way is that of TensorFlow, or else of each imported framework.
    """
    loaded = {
        framework
        for framework, module_name in MODULES_BY_FRAMEWORK.items()
        if restoring.find_loaded_module(module_name)
    }
    used = set()
    for _, case in cases:
        function, *args = case if type(case) is tuple and case else (case,)
        used |= find_frameworks(function, tuple(args)) & loaded
    if not used:
        # The cases are plain Python, which each framework can run. The chapter with this verb is
        # about TensorFlow.
        used = loaded & {"TensorFlow"} or loaded

    ways = {PLAIN_WAY: leave_as_it_is}
    if "TensorFlow" in used:
        ways["tf.function"] = restoring.find_loaded_module("tensorflow").function
    if "PyTorch" in used:
        ways["torch.compile"] = _compile_copy
    return ways


def _compile_copy(function):
    """Return what torch.compile makes of a copy of a function.

    Dynamo caches what it compiles with the code object. A copy keeps the user's own code object
    free of that.
    """
    torch_private.refuse_late_dynamo()
    import torch

    return torch.compile(_copy_function(function), backend="eager")


def _copy_function(function):
    """Return a function that does the same and has a code object of its own.

    Of a method, the function in it is copied. Any other callable is wrapped into a new function.
    """
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
    """Return a copy of arguments in which containers and plain objects are copied to any depth.

    A *leaf*, such as a tensor or a function, is not copied. Copy and original share it.
    """
    reachable = ReachableState([("", args)], follows_code=False)
    if reachable.is_cut:
        needed = "each run needs fresh ones; pass smaller arguments"
        limit = f"{reachable_state.MOST_OBJECTS:,} objects"
        raise ValueError(f"a case contains more than {limit}, and {needed}")
    # The second argument of `deepcopy` is id -> copy of what was copied already. An object that
    # stands there as its own copy is not copied.
    leaves_by_id = {id(leaf): leaf for leaf in reachable.leaves}
    return copy.deepcopy(args, leaves_by_id)


@contextmanager
def _setting_again_at_the_end() -> Iterator[dict[tuple[int, str], tuple[object, str, object]]]:
    """Set attributes of libraries when the block ends, as the program had set them.

    Yield a dict that the block fills: (id of a class or module, name) -> (the class or module, the
    name, the value). During the block, each run finds the library as before. Afterwards the library
    is in the state that the program wanted, such as a logging level.
    """
    settings = {}
    try:
        yield settings
    finally:
        for namespace, name, value in settings.values():
            set_attribute(namespace, name, value)
