"""A function -> the globals that it lives in, and what the two caches say before and after a call.

TensorFlow's cache of graphs is asked by TensorFlow's own key (tensorflow/python/eager/
polymorphic_function), Dynamo's hangs on the code objects (torch/csrc/dynamo/extra_state.cpp).
"""

from types import CodeType, FunctionType

from helpers.capture.cpython.hooked_frames import own_codes
from helpers.internals import torch_private
from helpers.safety import imported
from helpers.safety.arguments import is_a

LIBRARIES = ("tensorflow", "keras", "torch", "numpy")


def space_of(function: FunctionType | None) -> dict | None:
    """Return the globals of a function that is the learner's: of none in a framework's package."""
    if function is None:
        return None
    module = dict.get(function.__globals__, "__name__")
    package = module.partition(".")[0] if type(module) is str else ""
    return None if package in LIBRARIES else function.__globals__


def dynamo_codes(function: FunctionType | None) -> dict[int, CodeType]:
    """Return what Dynamo has made of the code of this function's module, by id."""
    if function is None or not imported.module("torch._dynamo"):
        return {}
    found = (entry.code for code in own_codes(function) for entry in _entries(code))
    return {id(code): code for code in found}


def _entries(code: CodeType) -> list:
    return torch_private.cache_entries(code)


def key_words(fn, args: tuple, kwargs: dict) -> str:
    """Return the words of the key of this call, if `fn` is a tf.function; else nothing."""
    tensorflow = imported.module("tensorflow")
    kind = getattr(getattr(tensorflow, "types", None), "experimental", None)
    kind = getattr(kind, "PolymorphicFunction", None)
    if kind is None or not is_a(fn, kind):
        return ""
    from helpers.capture.tensorflow.tracing import keys
    from helpers.capture.tensorflow.tracing.trace_type import Names

    try:
        return Names().arguments(keys.wanted(fn, args, kwargs)[1])
    except KeyboardInterrupt:
        raise
    except BaseException:  # an argument's own protocol may raise: the call itself will say it
        return ""


def graph_ops(name: str) -> tuple[str, ...]:
    """Return the ops inside a graph that TensorFlow runs under this name; () if it is an op."""
    from tensorflow.python.eager import context

    try:
        definition = context.context().get_function_def(name)
    except Exception:  # it is no function
        return ()
    quiet = {"Identity", "NoOp", "Const"}
    return tuple(node.op for node in definition.node_def if node.op not in quiet)
