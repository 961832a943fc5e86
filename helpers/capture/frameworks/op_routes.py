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

from helpers.capture.frameworks.call_landmarks import FAST, SLOW
from helpers.capture.references.places import Place
from helpers.capture.references.search import find_holders
from helpers.capture.text.error import said
from helpers.capture.text.label import label
from helpers.model.phrase import listed
from helpers.safety.arguments import alive, called
from helpers.safety.interpreter_state import patched, theirs

LAYER = "{} · {}"
MOST_NAMES = 40


def op_routes(op, *args) -> dict[str, Callable]:
    """Return route -> a function without arguments that calls `op(*args)` on this route.

    `op`: a public function of TensorFlow that runs one op through its generated wrapper, such as
    `tf.nn.bias_add`. Names come first (of many, 40), the doors into C last. A name is looked up when
    its route is run. TypeError for no function; ValueError, in one sentence, where the call fails,
    or passes the doors otherwise than once.
    """
    alive(called(op, "the op"), "the op")
    passed = _doors_passed(op, args)
    places = [place for place in find_holders(op) if place.get() is op][:MOST_NAMES]
    if not places:
        raise ValueError(f"nothing that can be seen holds {label(op)}; give an op with a name")
    # Whoever kept `op` itself would be one more holder, and a rebinding would reach it.
    names = {place.binding.path: partial(_through, place, args) for place in places}
    return {**names, **_wrapped(op, args), **_below(passed), **_beside(places[0], args)}


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

    with patched(pywrap_tfe, **{door: noting}), theirs():
        run()
    return passed


def _doors_passed(op, args) -> Passed:
    try:
        passed = _at_the_door(FAST, lambda: op(*args))
    except Exception as error:
        raise ValueError(f"{label(op)} cannot be called with these: {said(error)}") from None
    kinds = [one.given[1] for one in passed]
    if len(kinds) != 1:
        many = listed(kinds, 3) or "none"
        raise ValueError(f"a map is of a call that passes {FAST} once; this passes it with: {many}")
    return passed[0]


def _wrapped(op, args) -> dict[str, Callable]:
    """Return the functions inside the public one, by the names of their code."""
    found, inner = {}, getattr(op, "__wrapped__", None)
    while type(inner) is FunctionType and len(found) < 10:
        found[LAYER.format("inside it", inner.__code__.co_name)] = partial(inner, *args)
        inner = getattr(inner, "__wrapped__", None)
    return found


def _below(passed: Passed) -> dict[str, Callable]:
    """Return the generated wrapper, its raw form and its fallback, and what they call in turn."""
    import tensorflow as tf
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context, execute

    module, name, given = passed.module, passed.function, passed.arguments
    home = module.__name__.rpartition(".")[2]
    fallback = f"{name}_eager_fallback"

    def falling_back():
        return getattr(module, fallback)(**given, ctx=context.context())

    slow = _at_the_door(SLOW, falling_back)[0]
    by_name = {**slow.arguments, "op_name": passed.given[1]}
    return {
        LAYER.format("generated", f"{home}.{name}"): lambda: getattr(module, name)(**given),
        LAYER.format("raw", f"tf.raw_ops.{passed.given[1]}"): partial(
            getattr(tf.raw_ops, passed.given[1]), **given
        ),
        LAYER.format("generated", f"{home}.{fallback}"): falling_back,
        LAYER.format("runs ops", "execute.execute"): lambda: execute.execute(**by_name)[0],
        LAYER.format("runs ops", "execute.quick_execute"): lambda: execute.quick_execute(**by_name)[
            0
        ],
        LAYER.format("door into C", FAST): lambda: getattr(pywrap_tfe, FAST)(*passed.given),
        LAYER.format("door into C", SLOW): lambda: getattr(pywrap_tfe, SLOW)(*slow.given)[0],
    }


def _beside(place: Place, args) -> dict[str, Callable]:
    """Return the ways on which the name is looked up elsewhere, or was looked up before."""
    import tensorflow as tf

    def graph():
        return tf.function(lambda *given: place.get()(*given), autograph=False)

    before = graph()
    before(*args)

    def in_a_thread():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(_through, place, args).result()

    return {
        LAYER.format("graph", "traced before"): lambda: before(*args),
        LAYER.format("graph", "traced now"): lambda: graph()(*args),
        LAYER.format("thread", "another one"): in_a_thread,
    }
