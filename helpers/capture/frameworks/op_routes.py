"""One call of a TensorFlow op -> every route by which it can reach its kernel, each to be run.

From the names that hold the public function, through the functions that it wraps and the wrapper
that TensorFlow generated (tensorflow/python/ops/gen_*_ops.py), to the two doors into C
(tensorflow/python/_pywrap_tfe); and the ways that pass by all names: a graph, another thread.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FunctionType

from helpers.capture.references.holder_search import find_holders
from helpers.capture.references.places import Place
from helpers.capture.text.error import said
from helpers.capture.text.value import label
from helpers.internals.tensorflow_private import FAST, SLOW
from helpers.model.phrase import listed
from helpers.safety.arguments import alive, called
from helpers.safety.restoring import patched, theirs

LAYER, FALLBACK = "{} · {}", "{}_eager_fallback"
MOST_NAMES = 40


def op_routes(op, *args) -> dict[str, Callable]:
    """Return route -> a function without arguments that calls `op(*args)` on this route.

    `op`: a function of TensorFlow, or of your own, that runs one op through its generated wrapper,
    such as `tf.nn.bias_add`. Names come first (of many, 40); each is looked up when its route is
    run. TypeError for no function; ValueError, in one sentence, where the call fails, or runs
    another number of ops.
    """
    alive(called(op, "the op"), "the op")
    passed = _doors_passed(op, args)
    places = _places(op)
    if not places:
        raise ValueError(f"nothing that can be seen holds {label(op)}; give an op with a name")
    # Whoever kept `op` itself would be one more holder, and a rebinding would reach it.
    names = {place.binding.path: partial(_through, place, args) for place in places}
    return {**names, **_wrapped(op, args), **_below(passed), **_beside(places[0], args)}


def _places(op) -> list[Place]:
    found = []
    for place in find_holders(op):  # a comprehension would put `op` into a cell: one more holder
        if place.get() is op and len(found) < MOST_NAMES:
            found.append(place)
    return found


def _through(place: Place, args):
    return place.get()(*args)


class Passed:
    """What was given at a door into C, and by which Python function: its name and arguments."""

    def __init__(self, given: tuple, caller):
        code = caller.f_code
        names = code.co_varnames[: code.co_argcount]
        self.given, self.function = given, code.co_name
        self.module = sys.modules[caller.f_globals["__name__"]]
        self.arguments = {name: caller.f_locals[name] for name in names}


def _at_the_door(door: str, run: Callable) -> list[Passed]:
    """Return what passes a door into C while something is run."""
    from tensorflow.python import pywrap_tfe

    real, passed = getattr(pywrap_tfe, door), []

    def noting(*given):
        passed.append(Passed(given, sys._getframe(1)))
        return real(*given)

    with patched(pywrap_tfe, **{door: noting}):
        _tried(run)
    return passed


def _tried(run: Callable):
    """Return what a run returns; ValueError, in one sentence, if it does not come to its end."""
    try:
        with theirs():
            return run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: the learner's function may raise it
        raise ValueError(f"the call must succeed, and it raised {said(error)}") from None


def _doors_passed(op, args) -> Passed:
    passed = _at_the_door(FAST, lambda: op(*args))
    kinds = [one.given[1] for one in passed]
    if len(kinds) != 1:
        many = listed(kinds, 3) or "none"
        raise ValueError(f"a map is of a call that passes {FAST} once; this passes it with: {many}")
    if not hasattr(passed[0].module, FALLBACK.format(passed[0].function)):
        raise ValueError(f"{label(op)} passes {FAST} without a wrapper that TensorFlow generated")
    return passed[0]


def _wrapped(op, args) -> dict[str, Callable]:
    """Return the functions inside the public one, by the names of their code."""
    found, inner = {}, getattr(op, "__wrapped__", None)
    while type(inner) is FunctionType and len(found) < 10:
        found[LAYER.format("inside it", inner.__code__.co_name)] = partial(inner, *args)
        inner = getattr(inner, "__wrapped__", None)
    return found


def _below(passed: Passed) -> dict[str, Callable]:
    """Return the generated wrapper, its raw copy and its fallback, and what they call in turn."""
    import tensorflow as tf
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context, execute

    module, name, given = passed.module, passed.function, passed.arguments
    home, fallback = module.__name__.rpartition(".")[2], FALLBACK.format(name)
    kind = passed.given[1]

    def falling_back():
        return getattr(module, fallback)(**given, ctx=context.context())

    slow = _at_the_door(SLOW, falling_back)[-1]
    ran = {**slow.arguments, "op_name": kind}
    return {
        LAYER.format("generated", f"{home}.{name}"): lambda: getattr(module, name)(**given),
        LAYER.format("its copy", f"tf.raw_ops.{kind}"): lambda: getattr(tf.raw_ops, kind)(**given),
        LAYER.format("generated", f"{home}.{fallback}"): falling_back,
        LAYER.format("runs ops", "execute.execute"): lambda: _alone(execute.execute(**ran)),
        LAYER.format("runs ops", "quick_execute"): lambda: _alone(execute.quick_execute(**ran)),
        LAYER.format("door into C", FAST): lambda: getattr(pywrap_tfe, FAST)(*passed.given),
        LAYER.format("door into C", SLOW): lambda: _alone(getattr(pywrap_tfe, SLOW)(*slow.given)),
    }


def _alone(outputs: list):
    """Return the one output as the wrappers do; several as a list."""
    return outputs[0] if len(outputs) == 1 else outputs


def _beside(place: Place, args) -> dict[str, Callable]:
    """Return the ways on which the name is looked up elsewhere, or was looked up before."""
    import tensorflow as tf

    def traced():
        return _through(place, args)

    def graph():
        # Called as a tf.function, it would count as one that traces again and again, and warn.
        return tf.function(traced, autograph=False).get_concrete_function()

    before = _tried(graph)

    def in_a_thread():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(_through, place, args).result()

    return {
        LAYER.format("graph", "traced before"): before,
        LAYER.format("graph", "traced now"): lambda: graph()(),
        LAYER.format("thread", "another one"): in_a_thread,
    }
