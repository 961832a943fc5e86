"""What somebody hands over -> the function that Dynamo starts with, its cache entries, a picture.

Peeled off are modules, what torch.compile made, methods, partials and ledgers. A decorator is not:
Dynamo starts with its wrapper, and keeps what it compiles with the wrapper's code object. The
entries hang on that code object, the one tried first in front (torch/csrc/dynamo/extra_state.cpp
and cache_entry.h); the graph and the resume functions are globals that the new code names.
"""

import functools
import inspect
import re
from types import CodeType, FunctionType, MethodType

from helpers.capture.cpython.objects import called, instance_dict
from helpers.capture.cpython.objects import python_function as traced_by_tensorflow
from helpers.capture.cpython.unwrapping import DEEPEST, opened
from helpers.capture.text.error import instead
from helpers.capture.text.value import brief, short_name
from helpers.internals import torch_private
from helpers.safety import restoring
from helpers.safety.arguments import is_a, kind_of, printable

OWN = ("torch._dynamo", "torch.nn.modules.module")  # where torch calls what it was given
LONGEST = 300


def behind(fn, compiled: bool = False) -> tuple[FunctionType, tuple[str, ...]]:
    """Return the function that Dynamo starts with, and a sentence for each thing peeled off.

    With `compiled`, the first from outside that has cache entries, if any has. TypeError if there
    is no Python function.
    """
    if inside := ledger(fn):
        return inside["compiled_function"], inside["peeled"]
    thing, told, found = fn, (), []
    for _ in range(DEEPEST):
        thing = torch_private.inner_function(thing)
        function = thing.__func__ if type(thing) is MethodType else thing
        is_function = type(function) is FunctionType
        if is_function and not str(function.__globals__.get("__name__")).startswith(OWN):
            found.append((function, told + _decorated(function)))
        layer = opened(thing, (), 1)
        if layer.function is thing:
            break
        thing, told = layer.function, (*told, *layer.sentences)
    if not found:
        raise TypeError(
            "a Python function is needed, or a callable with one inside, such as an nn.Module, "
            f"not {brief(fn)}{instead(fn)}"
        )
    return next((one for one in found if compiled and entries(one[0].__code__)), found[0])


def _decorated(function: FunctionType) -> tuple[str, ...]:
    inner = function.__dict__.get("__wrapped__")
    words = f"Dynamo starts with the wrapper that a decorator put around {called(inner)}."
    return () if inner is None else (words,)


def given(fn, args, kwargs) -> tuple[tuple, dict]:
    """Return the arguments that the function behind `fn` gets in a call of `fn`."""
    fn = torch_private.inner_function(ledger(fn).get("compiled_from", fn))
    if type(fn) is functools.partial:
        return given(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})
    if type(fn) is MethodType:
        return (fn.__self__, *args), kwargs
    if type(fn) is FunctionType:
        return args, kwargs
    return given(opened(fn, (), 1).function, args, kwargs)  # of a module, its forward


def ledger(fn) -> dict:
    """Return what is in a ledger, or in an exhibit of one; nothing for anything else."""
    inside = {} if type(fn) is FunctionType else instance_dict(fn) or {}
    return inside if "compiled_from" in inside else instance_dict(inside.get("_source")) or {}


def is_module(thing) -> bool:
    """Return whether it is a module of torch; torch is not imported for that."""
    kind = getattr(restoring.module("torch.nn.modules.module"), "Module", None)
    return kind is not None and is_a(thing, kind)


def refuse_tensorflow(fn, verb: str) -> None:
    """Raise TypeError for what TensorFlow runs: a Keras layer, a method of one, a tf.function."""
    thing = fn.__self__ if type(fn) is MethodType else fn
    layer = getattr(restoring.module("keras.src.layers.layer"), "Layer", None)
    keras = layer is not None and is_a(thing, layer) and not is_module(thing)
    if keras or traced_by_tensorflow(thing) is not None:
        raise TypeError(f"{verb} watches torch.compile, and {kind_of(thing)} does not run on torch")


def entries(code: CodeType) -> list:
    """Return the live cache entries of a code object, in the order in which they were compiled."""
    live = [e for e in torch_private.cache_entries(code) if hasattr(e.guard_manager, "root")]
    return sorted(live, key=lambda entry: _numbers(entry.compile_id))


def _numbers(compile_id) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(compile_id)))


def accepts(entry, seen: dict) -> bool:
    """Return whether a cache entry's guards all hold for these locals, as torch says."""
    return bool(entry.guard_manager.root.check(seen))


def own_signature(fn: FunctionType) -> inspect.Signature:
    """Return the signature of the code itself: no `__wrapped__` and no `__signature__` is asked."""
    bare = FunctionType(fn.__code__, {}, "bare", fn.__defaults__, fn.__closure__)
    bare.__kwdefaults__ = fn.__kwdefaults__
    return inspect.signature(bare)


def first_call(fn, args, kwargs) -> dict:
    """Return the arguments of a call by name, defaults among them; TypeError if they do not fit."""
    try:
        bound = own_signature(fn).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:  # the code's own names may be none
        name, words = short_name(fn.__name__), printable(str(error), LONGEST)
        raise TypeError(f"{name}() cannot be called with these: {words}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def frame_locals(fn, args, kwargs) -> dict:
    """Return what a frame of `fn` would see as its locals at the start: arguments, closure."""
    return first_call(fn, args, kwargs) | closure_values(fn)


def closure_values(fn) -> dict:
    """Return what the closure of a function holds now, by name; an empty cell is left out."""
    seen = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            seen[name] = cell.cell_contents
        except ValueError:
            continue
    return seen


def copied(fn):
    """Return a function or a method as a copy with a code object of its own: an empty cache."""
    if type(fn) is MethodType:
        return MethodType(copied(fn.__func__), fn.__self__)
    code = fn.__code__.replace()
    made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(made, fn, updated=())
    made.__dict__ = {name: fn.__dict__[name] for name in ("__wrapped__",) if name in fn.__dict__}
    return made
