"""Every way to intercept a call, and every route that a call can take.

Only what is registered is read. Nothing of the user's is called, and a framework that has not been
imported is not imported for this. Audit hooks (`sys.addaudithook`) cannot be listed; CPython keeps
them in C.
"""

import builtins
import importlib.machinery as machinery
import sys
import threading
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import make_dataclass, replace
from dis import opmap
from functools import partial
from types import FunctionType, MethodType

from ...internals import tensorflow_private, torch_private
from ...internals.tensorflow_private import DOORS, FAST, SLOW
from ...mini import frame_hook
from ...model.phrase import listed
from ...model.tables import Column, Listing
from ...safety import arguments, restoring
from ...safety.restoring import BUILTINS, patched, running_user_code
from ..cpython.objects import called
from ..references.holder_search import find_holders, patched_names
from ..references.places import Place
from ..text.error import error_message
from ..text.value import label, type_name

NOBODY, NEW, OLD = "nobody", "not in this Python", "not imported"
MOST = 3
CEVAL = "Python/ceval.c"
PRINTS = CEVAL if "PRINT_EXPR" in opmap else "Python/intrinsics.c"
AROUND = "around the call"
COLUMNS = {"station": "station", "way": "way in", "now": "who uses it now"}
COLUMNS |= {"sees": "what it sees", "source": "source file"}
TRACING = "Python/legacy_tracing.c, ceval.c"
# way -> what it sees, and where the real thing is asked; AT: way -> its station on the spine
WAYS = {
    "patched names": ("calls by that name", CEVAL),
    "builtins": ("calls by names found in no nearer scope", CEVAL),
    "import finders": ("imports of new modules", "importlib/_bootstrap.py"),
    "cell transformers": ("the syntax tree of each cell", "IPython: interactiveshell.py"),
    "cell events": ("begin and end of each cell", "IPython: events.py"),
    "frame evaluator": ("each Python frame, before it runs", f"{CEVAL} (PEP 523)"),
    "torch's frame callback": ("frames no compiled code matches", "torch: dynamo/eval_frame.c"),
    "sys.settrace": ("calls, lines, returns of this thread", TRACING),
    "sys.setprofile": ("calls and returns of this thread, of C too", TRACING),
    "threading.settrace": ("calls, lines, returns of new threads", "threading.py"),
    "threading.setprofile": ("calls and returns of new threads, of C too", "threading.py"),
    "sys.monitoring": ("the events that each tool asked for", "PEP 669: instrumentation.c"),
    "torch function modes": ("calls of torch's functions", "torch: overrides.py"),
    "torch dispatch modes": ("ops, below autograd", "torch: utils/_python_dispatch.py"),
    "TensorFlow op callbacks": ("each op, afterwards", "framework/op_callbacks.py"),
    "TensorFlow's doors to C": ("each eager op, before it runs", "python/pywrap_tfe.py"),
    "a graph being built": ("ops, recorded but not run", "framework/ops.py"),
    "torch autocast": ("ops, whose inputs it casts", "torch: amp/autocast_mode.py"),
    "torch autograd modes": ("ops, as they are recorded", "torch: autograd/grad_mode.py"),
    "torch.func layers": ("ops, as grad or vmap", "torch: _functorch/pyfunctorch.py"),
    "torch's hooks of all modules": ("calls of modules", "torch: nn/modules/module.py"),
    "torch settings": ("ops, which they place or choose", "torch: utils/_device.py"),
    "torch.compile turned off": ("calls of compiled code", "torch: _dynamo/eval_frame.py"),
    "tf.functions turned off": ("calls of tf.functions", "eager_function_run.py"),
    "TensorFlow placement": ("ops, which it places", "python/eager/context.py"),
    "TensorFlow dispatchers": ("calls of TensorFlow's functions", "util/dispatch.py"),
    "gradient tapes": ("ops, as they run", "eager/backprop.py"),
    "Keras scopes": ("calls of layers and variables", "keras: backend/common"),
    "warnings as errors": ("warnings, which raise", "warnings.py"),
    "sys.displayhook": ("the value of a last line", PRINTS),
    "sys.excepthook": ("uncaught errors", "Python/pythonrun.c"),
    "sys.unraisablehook": ("errors that no code can catch", "Python/errors.c"),
    "sys.breakpointhook": ("breakpoint()", "Python/bltinmodule.c"),
}
AT = dict.fromkeys(("patched names", "builtins", "import finders"), "name")
AT |= {"a graph being built": "cache key"}
AT |= dict.fromkeys(("sys.settrace", "sys.setprofile", "sys.monitoring"), "frame")
AT |= dict.fromkeys(("threading.settrace", "threading.setprofile"), "frame")
AT |= dict.fromkeys(("frame evaluator", "torch's frame callback"), "evaluator")
AT |= dict.fromkeys(("tf.functions turned off",), "cache key")
AT |= dict.fromkeys(("torch.compile turned off",), "evaluator")
AT |= dict.fromkeys(("torch autocast", "torch autograd modes", "torch.func layers"), "registry")
AT |= dict.fromkeys(("torch settings", "TensorFlow placement", "gradient tapes"), "registry")
AT |= dict.fromkeys(("torch function modes", "torch dispatch modes"), "registry")
AT |= dict.fromkeys(("TensorFlow op callbacks", "TensorFlow's doors to C"), "C call")

NOT_LOOKED_AT = (
    "Not looked at: audit hooks, because Python does not list them; other threads; decorators "
)
NOT_LOOKED_AT += "of your own functions."

Interception = make_dataclass("Interception", COLUMNS, frozen=True)


class Interceptions(Listing):
    """A listing of `Interception`s."""

    @property
    def taken(self) -> dict[str, str]:
        """Return way -> who is there, of those where somebody is."""
        return {row.way: row.now for row in self.rows if row.now not in (NOBODY, NEW, OLD)}

    def at(self, station: str) -> tuple[Interception, ...]:
        """Return the ways in at a station of the spine; "around the call": at none of them."""
        return tuple(row for row in self.rows if row.station == station)


def interceptions() -> Interceptions:
    """List the usual ways to intercept a call, from the name to the op, and what uses each now."""
    now = dict.fromkeys(WAYS, OLD) | _in_python() | _in_frameworks() | _modes()
    rows = tuple(
        Interception(AT.get(way, AROUND), way, now[way], *words) for way, words in WAYS.items()
    )
    columns = tuple(Column(*one, one[0] in ("now", "source")) for one in COLUMNS.items())
    made = Interceptions("What intercepts your calls now", columns, rows)
    taken = f"{len(made.taken)} of {len(rows)} ways in are used."
    return replace(made, note=f"{taken} {NOT_LOOKED_AT}")


def _in_python() -> dict[str, str]:
    finders = (machinery.BuiltinImporter, machinery.FrozenImporter, machinery.PathFinder)
    space, evaluator = vars(builtins), frame_hook.installed()[0]
    other = [name for name, own in BUILTINS.items() if space.get(name) is not own]
    is_own, monitoring = evaluator.owner.startswith("CPython"), getattr(sys, "monitoring", None)
    found = {
        "patched names": patched_names(MOST) or NOBODY,
        "builtins": _listed(f"{_name(space.get(name))} for {name}" for name in other),
        "import finders": _listed(_name(one) for one in sys.meta_path if one not in finders),
        "frame evaluator": NOBODY if is_own else f"{evaluator.name} ({evaluator.owner})",
        "sys.settrace": _name(sys.gettrace()),
        "sys.setprofile": _name(sys.getprofile()),
        "threading.settrace": _name(threading.gettrace()),
        "threading.setprofile": _name(threading.getprofile()),
        "sys.monitoring": NEW,
    }
    if monitoring:
        found["sys.monitoring"] = _listed(filter(None, map(monitoring.get_tool, range(6))))
    for hook in ("displayhook", "excepthook", "unraisablehook", "breakpointhook"):
        now, own = getattr(sys, hook), getattr(sys, f"__{hook}__")
        found[f"sys.{hook}"] = NOBODY if now is own else _name(now)
    return found


def _in_frameworks() -> dict[str, str]:
    found = {}
    shell = getattr(restoring.module("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        events = [hooks for _, hooks in sorted(shell.events.callbacks.items())]
        found["cell transformers"] = _listed(map(_name, shell.ast_transformers))
        found["cell events"] = _listed(map(_name, sum(events, [])))
    if restoring.module("torch"):
        dispatch, functions = (_listed(map(type_name, stack)) for stack in torch_private.modes())
        found |= {"torch function modes": functions, "torch dispatch modes": dispatch}
        # False: frames run what is compiled.
        found["torch's frame callback"] = _name(torch_private.frame_callback() or None)
    if restoring.module("tensorflow"):
        callbacks = tensorflow_private.context.context().op_callbacks
        doors = [(name, getattr(tensorflow_private.doors, name)) for name in DOORS]
        other = (f"{_name(fn)} for {name}" for name, fn in doors if type(fn) is not type(len))
        graphs = [type_name(graph) for graph in tensorflow_private.graphs_being_built()]
        found["TensorFlow op callbacks"] = _listed(map(_name, callbacks))
        found["TensorFlow's doors to C"] = _listed(other)
        found["a graph being built"] = graphs[-1] if graphs else NOBODY
    return found


def _modes() -> dict[str, str]:
    """Return what changes how a framework runs a call, or how Python treats a warning."""
    readers = {"warnings as errors": _raising_warnings}
    for home, private in (("torch", torch_private), ("tensorflow", tensorflow_private)):
        readers |= private.MODES if restoring.module(home) else {}
    found = {}
    for way, read in readers.items():
        try:
            names = [one if type(one) is str else _name(one) for one in read()]
        except Exception as error:  # a private name may be gone: what is not known is said
            names = [f"unknown: reading it raised {type_name(error)}"]
        found[way] = _listed(names)
    return found


def _raising_warnings() -> list[str]:
    raising = [each for each in warnings.filters if each[0] == "error"]
    return list(dict.fromkeys(kind.__name__ for _, _, kind, *_ in raising))


def _name(thing) -> str:
    """Return what a hook is called: a function's own name, or the type of what has no name."""
    if thing is None:
        return NOBODY
    if type(thing) is MethodType:
        return f"{type_name(thing.__self__)}.{called(thing)}"
    return called(thing) if callable(thing) else type_name(thing)


def _listed(names: Iterable[str]) -> str:
    return listed(names, MOST) or NOBODY


# ------------------------------------------------------------------ the routes of one op
# From the names that hold the public function, through what it wraps and the generated wrapper
# (tensorflow/python/ops/gen_*_ops.py), to the two doors into C; and a graph, another thread.

LAYER, FALLBACK = "{} · {}", "{}_eager_fallback"
MOST_NAMES = 40


def op_routes(op, /, *args) -> dict[str, Callable]:
    """Return a dict from each route to a function that calls `op(*args)` on that route."""
    arguments.called(op, "the op")
    passed = _pass_door(FAST, lambda: op(*args))
    if len(passed) != 1:
        many = listed([one.given[1] for one in passed], 3) or "none"
        raise ValueError(f"a map needs a call that passes {FAST} once; this passes it with: {many}")
    places = []
    for place in find_holders(op):  # a comprehension would put `op` into a cell: one more holder
        if place.get() is op:
            places.append(place)
    if not places or not hasattr(passed[0].module, FALLBACK.format(passed[0].function)):
        raise ValueError(f"{label(op)} has no name, or no wrapper that TensorFlow generated")
    # A reference to `op` itself would be one more holder, and a rebinding would reach it.
    routes = {p.binding.path: (lambda p=p: p.get()(*args)) for p in places[:MOST_NAMES]}
    inner = getattr(op, "__wrapped__", None)
    while type(inner) is FunctionType:  # inside the public one, by the names of their code
        routes[LAYER.format("inside it", inner.__code__.co_name)] = partial(inner, *args)
        inner = getattr(inner, "__wrapped__", None)
    return {**routes, **_below(passed[0]), **_beside(places[0], args)}


# What was given at a door into C, and by which Python function: its name, module and arguments.
_Passed = namedtuple("_Passed", "given function module arguments")


def _pass_door(door: str, run: Callable) -> list[_Passed]:
    doors, passed = tensorflow_private.doors, []
    real = getattr(doors, door)

    def noting(*given):
        caller = sys._getframe(1)
        code, module = caller.f_code, sys.modules[caller.f_globals["__name__"]]
        arguments = {name: caller.f_locals[name] for name in code.co_varnames[: code.co_argcount]}
        passed.append(_Passed(given, code.co_name, module, arguments))
        return real(*given)

    with patched(doors, **{door: noting}):
        _try(run)
    return passed


def _try(run: Callable):
    """Return what a run returns; ValueError, in one sentence, if it does not come to its end."""
    try:
        with running_user_code():
            return run()
    except Exception as error:
        raise ValueError(f"the call must succeed, and it raised {error_message(error)}") from None


def _below(passed: _Passed) -> dict[str, Callable]:
    """Return the generated wrapper, its raw copy and its fallback, and what they call in turn."""
    import tensorflow as tf

    doors, execute = tensorflow_private.doors, tensorflow_private.execute
    module, name, given = passed.module, passed.function, passed.arguments
    home, fallback = module.__name__.rpartition(".")[2], FALLBACK.format(name)
    alone, kind = lambda outputs: outputs[0] if len(outputs) == 1 else outputs, passed.given[1]

    def falling_back():
        return getattr(module, fallback)(**given, ctx=tensorflow_private.context.context())

    slow = _pass_door(SLOW, falling_back)[-1]
    ran = {**slow.arguments, "op_name": kind}
    return {
        LAYER.format("generated", f"{home}.{name}"): lambda: getattr(module, name)(**given),
        LAYER.format("its copy", f"tf.raw_ops.{kind}"): lambda: getattr(tf.raw_ops, kind)(**given),
        LAYER.format("generated", f"{home}.{fallback}"): falling_back,
        LAYER.format("runs ops", "execute.execute"): lambda: alone(execute.execute(**ran)),
        LAYER.format("runs ops", "quick_execute"): lambda: alone(execute.quick_execute(**ran)),
        LAYER.format("door into C", FAST): lambda: getattr(doors, FAST)(*passed.given),
        LAYER.format("door into C", SLOW): lambda: alone(getattr(doors, SLOW)(*slow.given)),
    }


def _beside(place: Place, args) -> dict[str, Callable]:
    """Return the ways on which the name is looked up elsewhere, or was looked up before."""
    import tensorflow as tf

    def traced():
        return place.get()(*args)

    def graph():
        # Called as a tf.function, it would count as one that traces again and again, and warn.
        return tf.function(traced, autograph=False).get_concrete_function()

    return {
        LAYER.format("graph", "traced before"): _try(graph),
        LAYER.format("graph", "traced now"): lambda: graph()(),
        LAYER.format("thread", "another one"): lambda: (
            ThreadPoolExecutor(1).submit(traced).result()
        ),
    }
