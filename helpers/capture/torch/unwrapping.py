"""What somebody hands over -> the Python function that Dynamo starts with, and its arguments.

Peeled off are modules, what torch.compile made, methods, partials and ledgers. A decorator is not:
Dynamo starts with its wrapper, and keeps what it compiles with the wrapper's code object.
"""

import functools
from types import FunctionType, MethodType

from helpers.capture.cpython.objects import called, instance_dict
from helpers.capture.cpython.objects import python_function as traced_by_tensorflow
from helpers.capture.cpython.unwrapping import DEEPEST, opened
from helpers.capture.text.error import instead
from helpers.capture.text.value import brief
from helpers.capture.torch.cache_entries import entries
from helpers.internals import torch_private
from helpers.safety import imported
from helpers.safety.arguments import is_a, kind_of

OWN = ("torch._dynamo", "torch.nn.modules.module")  # where torch calls what it was given


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


def is_module(thing) -> bool:
    """Return whether it is a module of torch; torch is not imported for that."""
    kind = getattr(imported.module("torch.nn.modules.module"), "Module", None)
    return kind is not None and is_a(thing, kind)


def refuse_tensorflow(fn, verb: str) -> None:
    """Raise TypeError for what TensorFlow runs: a Keras layer, a method of one, a tf.function."""
    thing = fn.__self__ if type(fn) is MethodType else fn
    layer = getattr(imported.module("keras.src.layers.layer"), "Layer", None)
    keras = layer is not None and is_a(thing, layer) and not is_module(thing)
    if keras or traced_by_tensorflow(thing) is not None:
        raise TypeError(f"{verb} watches torch.compile, and {kind_of(thing)} does not run on torch")


def ledger(fn) -> dict:
    """Return what is in a ledger, or in an exhibit of one; nothing for anything else."""
    inside = {} if type(fn) is FunctionType else instance_dict(fn) or {}
    return inside if "compiled_from" in inside else instance_dict(inside.get("_source")) or {}


def _decorated(function: FunctionType) -> tuple[str, ...]:
    inner = function.__dict__.get("__wrapped__")
    words = f"Dynamo starts with the wrapper that a decorator put around {called(inner)}."
    return () if inner is None else (words,)
