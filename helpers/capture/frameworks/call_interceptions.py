"""List the known ways to intercept a Python call (WAYS), such as `sys.settrace` or a dispatch mode
of torch, and who uses each *way* now. A *user* of a way is a hook, a tool or a mode that is
registered there. A user is shown by its name.

Only what is registered is read. Nothing of the user's is called, and a framework that has not been
imported is not imported for this. Audit hooks (`sys.addaudithook`) cannot be listed, because
CPython keeps them in C.
"""

import builtins
import importlib.machinery as machinery
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from dis import opmap
from types import MethodType

from ...internals import frame_callback, tensorflow_private, torch_modes
from ...internals.tensorflow_private import ENTRY_POINTS
from ...mini import frame_hook
from ...model.interception_records import NEW, NOBODY, OLD, Interception, Interceptions
from ...model.phrase import format_names
from ...model.tables import Column
from ...safety import restoring
from ...safety.arguments import real_type_name
from ...safety.restoring import BUILTINS
from ..cpython.objects import read_callable_name
from ..references.patched_names import describe_patched_names

AROUND = "around the call"  # the station of a way that is at none of the spine
MOST_USERS = 3  # names of who uses a way
COLUMNS = {
    "station": "station",
    "way": "way in",
    "now": "who uses it now",
    "sees": "what it sees",
    "source": "source file",
}
LONG_COLUMNS = ("now", "source")
NOT_LOOKED_AT = (
    "Not looked at: audit hooks, because Python does not list them; other threads; decorators "
    "of your own functions."
)

CEVAL = "Python/ceval.c"
TRACING = "Python/legacy_tracing.c, ceval.c"
# Up to 3.11 an instruction shows the value of a last line, later a function that it calls.
DISPLAY_SOURCE = CEVAL if "PRINT_EXPR" in opmap else "Python/intrinsics.c"


@dataclass(frozen=True)
class KnownWay:
    """One way to intercept a call, without what uses it now."""

    #: What the interceptor gets to see.
    sees: str
    #: The file that asks the interceptor.
    source: str
    #: The name of the station of the spine at which it acts, or AROUND.
    station: str = AROUND


WAYS = {
    "patched names": KnownWay("calls by that name", CEVAL, "name"),
    "builtins": KnownWay("calls by names found in no nearer scope", CEVAL, "name"),
    "import finders": KnownWay("imports of new modules", "importlib/_bootstrap.py", "name"),
    "cell transformers": KnownWay("the syntax tree of each cell", "IPython: interactiveshell.py"),
    "cell events": KnownWay("begin and end of each cell", "IPython: events.py"),
    "frame evaluator": KnownWay(
        "each Python frame, before it runs", f"{CEVAL} (PEP 523)", "evaluator"
    ),
    "torch's frame callback": KnownWay(
        "frames no compiled code matches", "torch: dynamo/eval_frame.c", "evaluator"
    ),
    "sys.settrace": KnownWay("calls, lines, returns of this thread", TRACING, "frame"),
    "sys.setprofile": KnownWay("calls and returns of this thread, of C too", TRACING, "frame"),
    "threading.settrace": KnownWay("calls, lines, returns of new threads", "threading.py", "frame"),
    "threading.setprofile": KnownWay(
        "calls and returns of new threads, of C too", "threading.py", "frame"
    ),
    "sys.monitoring": KnownWay(
        "the events that each tool asked for", "PEP 669: instrumentation.c", "frame"
    ),
    "torch function modes": KnownWay(
        "calls of torch's functions", "torch: overrides.py", "registry"
    ),
    "torch dispatch modes": KnownWay(
        "ops, below autograd", "torch: utils/_python_dispatch.py", "registry"
    ),
    "TensorFlow op callbacks": KnownWay(
        "each op, afterwards", "framework/op_callbacks.py", "C call"
    ),
    "TensorFlow's doors to C": KnownWay(
        "each eager op, before it runs", "python/pywrap_tfe.py", "C call"
    ),
    "a graph being built": KnownWay("ops, recorded but not run", "framework/ops.py", "cache key"),
    "torch autocast": KnownWay(
        "ops, whose inputs it casts", "torch: amp/autocast_mode.py", "registry"
    ),
    "torch autograd modes": KnownWay(
        "ops, as they are recorded", "torch: autograd/grad_mode.py", "registry"
    ),
    "torch.func layers": KnownWay(
        "ops, as grad or vmap", "torch: _functorch/pyfunctorch.py", "registry"
    ),
    "torch's hooks of all modules": KnownWay("calls of modules", "torch: nn/modules/module.py"),
    "torch settings": KnownWay(
        "ops, which they place or choose", "torch: utils/_device.py", "registry"
    ),
    "torch.compile turned off": KnownWay(
        "calls of compiled code", "torch: _dynamo/eval_frame.py", "evaluator"
    ),
    "tf.functions turned off": KnownWay(
        "calls of tf.functions", "eager_function_run.py", "cache key"
    ),
    "TensorFlow placement": KnownWay("ops, which it places", "python/eager/context.py", "registry"),
    "TensorFlow dispatchers": KnownWay("calls of TensorFlow's functions", "util/dispatch.py"),
    "gradient tapes": KnownWay("ops, as they run", "eager/backprop.py", "registry"),
    "Keras scopes": KnownWay("calls of layers and variables", "keras: backend/common"),
    "warnings as errors": KnownWay("warnings, which raise", "warnings.py"),
    "sys.displayhook": KnownWay("the value of a last line", DISPLAY_SOURCE),
    "sys.excepthook": KnownWay("uncaught errors", "Python/pythonrun.c"),
    "sys.unraisablehook": KnownWay("errors that no code can catch", "Python/errors.c"),
    "sys.breakpointhook": KnownWay("breakpoint()", "Python/bltinmodule.c"),
}


def list_interceptions() -> Interceptions:
    """Return a table with a row for each way to intercept a call, and who uses it now."""
    # OLD stands for a way of a framework that is not imported. The next lines replace it where
    # the framework is imported.
    users_by_way = dict.fromkeys(WAYS, OLD)
    users_by_way |= _find_in_python()
    users_by_way |= find_in_frameworks()
    users_by_way |= _find_modes()

    rows = []
    for way, known in WAYS.items():
        rows.append(Interception(known.station, way, users_by_way[way], known.sees, known.source))
    columns = tuple(
        Column(field, heading, field in LONG_COLUMNS) for field, heading in COLUMNS.items()
    )
    listing = Interceptions("What intercepts your calls now", columns, tuple(rows))
    taken = f"{len(listing.taken)} of {len(rows)} ways in are used."
    return replace(listing, note=f"{taken} {NOT_LOOKED_AT}")


def _find_in_python() -> dict[str, str]:
    """Return way -> the names of its users, for the ways that Python itself has."""
    own_finders = (machinery.BuiltinImporter, machinery.FrozenImporter, machinery.PathFinder)
    other_finders = [finder for finder in sys.meta_path if finder not in own_finders]
    users = {
        "patched names": describe_patched_names(MOST_USERS) or NOBODY,
        "builtins": _list_users(_find_replaced_builtins()),
        "import finders": _list_users(map(_format_hook, other_finders)),
        "frame evaluator": _find_frame_evaluator(),
        "sys.settrace": _format_hook(sys.gettrace()),
        "sys.setprofile": _format_hook(sys.getprofile()),
        "threading.settrace": _format_hook(threading.gettrace()),
        "threading.setprofile": _format_hook(threading.getprofile()),
        "sys.monitoring": _find_monitoring_tools(),
    }
    for name in ("displayhook", "excepthook", "unraisablehook", "breakpointhook"):
        hook = getattr(sys, name)
        original = getattr(sys, f"__{name}__")
        users[f"sys.{name}"] = NOBODY if hook is original else _format_hook(hook)
    return users


def _find_replaced_builtins() -> list[str]:
    """Return text such as "my_print() for print" for each builtin that has been replaced.

    BUILTINS has the values of the builtins from before the learner's program ran.
    """
    current_builtins = vars(builtins)
    replaced = []
    for name, original in BUILTINS.items():
        value = current_builtins.get(name)
        if value is not original:
            replaced.append(f"{_format_hook(value)} for {name}")
    return replaced


def _find_frame_evaluator() -> str:
    """Return the frame evaluator that is set, and its owner; NOBODY for CPython's own.

    The frame evaluator is the C function that CPython calls to run a frame (PEP 523).
    """
    evaluator, *_ = frame_hook.installed()
    if evaluator.owner.startswith("CPython"):
        return NOBODY
    return f"{evaluator.name} ({evaluator.owner})"


def _find_monitoring_tools() -> str:
    """Return the names of the tools that use `sys.monitoring`; NEW for a Python without it."""
    monitoring = getattr(sys, "monitoring", None)
    if not monitoring:
        return NEW
    tools = [monitoring.get_tool(number) for number in range(6)]  # PEP 669 has six of them
    return _list_users(filter(None, tools))


def find_in_frameworks() -> dict[str, str]:
    """Return way -> the names of its users, for the hooks of IPython, torch and TensorFlow.

    The ways of a library that is not imported are missing from the dict.
    """
    users = {}
    get_shell = getattr(restoring.find_loaded_module("IPython"), "get_ipython", None)
    shell = get_shell() if get_shell is not None else None
    if shell is not None:  # this process runs the cells of a notebook
        users |= _find_in_ipython(shell)
    if restoring.find_loaded_module("torch"):
        users |= _find_in_torch()
    if restoring.find_loaded_module("tensorflow"):
        users |= _find_in_tensorflow()
    return users


def _find_in_ipython(shell) -> dict[str, str]:
    """Return way -> the names of its users, for the hooks of IPython's shell."""
    callbacks = []
    for _event, callbacks_of_event in sorted(shell.events.callbacks.items()):
        callbacks += callbacks_of_event
    return {
        "cell transformers": _list_users(map(_format_hook, shell.ast_transformers)),
        "cell events": _list_users(map(_format_hook, callbacks)),
    }


def _find_in_torch() -> dict[str, str]:
    """Return way -> the names of its users, for torch's modes and Dynamo's frame callback."""
    dispatch_modes, function_modes = torch_modes.read_mode_stacks()
    # The callback is False if Dynamo only runs code that is compiled already: nobody is asked.
    callback = frame_callback.read_frame_callback() or None
    return {
        "torch function modes": _list_users(map(real_type_name, function_modes)),
        "torch dispatch modes": _list_users(map(real_type_name, dispatch_modes)),
        "torch's frame callback": _format_hook(callback),
    }


def _find_in_tensorflow() -> dict[str, str]:
    """Return way -> the names of its users, for TensorFlow's hooks and the graph being built."""
    callbacks = tensorflow_private.context.context().op_callbacks
    # The innermost graph comes last. It is the one into which ops are written now.
    graphs = [real_type_name(graph) for graph in tensorflow_private.list_graphs_being_built()]
    return {
        "TensorFlow op callbacks": _list_users(map(_format_hook, callbacks)),
        "TensorFlow's doors to C": _list_users(_find_replaced_entry_points()),
        "a graph being built": graphs[-1] if graphs else NOBODY,
    }


def _find_replaced_entry_points() -> list[str]:
    """Return text such as "spy() for TFE_Py_Execute" for each replaced entry point of TensorFlow.

    An entry point is a C function that TensorFlow's Python code calls. If the name leads to a
    function in Python now, somebody has replaced the entry point.
    """
    c_function_type = type(len)
    replaced = []
    for name in ENTRY_POINTS:
        function = getattr(tensorflow_private.pywrap_tfe, name)
        if type(function) is not c_function_type:
            replaced.append(f"{_format_hook(function)} for {name}")
    return replaced


def _find_modes() -> dict[str, str]:
    """Return way -> the names of its users, for settings that change how calls run.

    Such a setting is a mode of a framework, such as autocast, or a filter that makes Python raise
    warnings.
    """
    # way -> a function that returns the values which are set, as texts or objects
    readers: dict[str, Callable] = {"warnings as errors": _list_raising_warnings}
    if restoring.find_loaded_module("torch"):
        readers |= torch_modes.MODES
    if restoring.find_loaded_module("tensorflow"):
        readers |= tensorflow_private.MODES

    users = {}
    for way, read in readers.items():
        try:
            names = [value if type(value) is str else _format_hook(value) for value in read()]
        except Exception as error:  # another version of the framework may lack a private name
            names = [f"unknown: reading it raised {real_type_name(error)}"]
        users[way] = _list_users(names)
    return users


def _list_raising_warnings() -> list[str]:
    """Return the names of the classes of warnings that are raised as errors, each once."""
    categories = []
    for action, _message, category, *_ in warnings.filters:
        if action == "error":
            categories.append(category.__name__)
    return list(dict.fromkeys(categories))


def _format_hook(hook) -> str:
    """Return the name of a hook: `Class.method()`, `function()`, or the type of another object.

    NOBODY stands for None, with which Python says that no hook is set.
    """
    if hook is None:
        return NOBODY
    if type(hook) is MethodType:
        return f"{real_type_name(hook.__self__)}.{read_callable_name(hook)}"
    return read_callable_name(hook) if callable(hook) else real_type_name(hook)


def _list_users(names: Iterable[str]) -> str:
    """Return the first names and how many more there are; NOBODY for none."""
    return format_names(names, MOST_USERS) or NOBODY
