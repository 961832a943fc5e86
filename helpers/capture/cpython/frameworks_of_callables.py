"""Find out which frameworks (TensorFlow, PyTorch, jax) a callable and its arguments belong to.
A framework is recognised by the names of modules, so no framework is imported. A verb for one
framework uses this to refuse a function of another.
"""

from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

from ...safety.arguments import real_isinstance
from .objects import list_global_names, read_callable_name, read_instance_dict
from .unwrapping import find_called_function

UNSEEN = "This uses jax. Only the keys, graphs and ops of TensorFlow and PyTorch are shown."


class Framework(NamedTuple):
    """A framework to which a callable may belong."""

    #: The names of its packages.
    packages: frozenset[str]
    #: Which verbs of this package a user should call for it.
    advice: str


FRAMEWORKS = {
    "TensorFlow": Framework(frozenset({"tensorflow", "keras"}), "use show_graph or watch_traces"),
    "PyTorch": Framework(frozenset({"torch"}), "use show_fx or show_compiled"),
    "jax": Framework(frozenset({"jax", "jaxlib"}), "no verb looks inside jax"),
}


def find_frameworks(thing: object, args: tuple = ()) -> set[str]:
    """Return which of the `FRAMEWORKS` a call of `thing(*args)` involves, such as {"PyTorch"}.

    A framework is involved if its package defines the callable, the class of an argument, or a
    global that the function reads.
    """
    function = find_called_function(thing, args)
    values = [thing, *args, function]
    if function is not None:  # None for a callable in C, whose globals cannot be read
        global_names = list_global_names(function.__code__) & function.__globals__.keys()
        values += [function.__globals__[name] for name in global_names]

    packages = set()  # top-level packages, such as "torch"
    for value in values:
        for module_name in _list_module_names(value):
            if real_isinstance(module_name, str):
                packages.add(module_name.partition(".")[0])
    return {name for name, framework in FRAMEWORKS.items() if packages & framework.packages}


def _list_module_names(value: object) -> Iterator[object]:
    """Yield the names of the modules that define an object, its class and the bases of the class.

    Not all that is yielded is text: it can be None, or a property that a class has as `__module__`.
    """
    if type(value) is MethodType or type(value) is BuiltinFunctionType:
        value = value.__self__  # a method belongs to the framework of its object
    # Not `isinstance`, which believes a mock that claims to be a class.
    is_class = issubclass(type(value), type)
    classes = value.__mro__ if is_class else type(value).__mro__
    for cls in classes:
        yield vars(cls).get("__module__")
    attributes = read_instance_dict(value) or {}
    # A module has its own name in `__name__`.
    yield attributes.get("__name__" if type(value) is ModuleType else "__module__")
    if type(value) is FunctionType:
        yield value.__module__


def refuse_other_framework(thing: object, args: tuple, verb: str, own: str) -> None:
    """Raise TypeError if `thing` belongs to other frameworks, and not to the verb's own.

    Parameters
    ----------
    thing : object
        The callable that the user passed to the verb.
    args : tuple
        The arguments of the call.
    verb : str
        The name of the verb, which the error mentions.
    own : str
        The framework for which the verb is: a key of `FRAMEWORKS`.
    """
    frameworks = find_frameworks(thing, args)
    if not frameworks or own in frameworks:
        return
    name = min(frameworks)  # the first in the alphabet, so that the error is always the same
    is_plain_function = find_called_function(thing) is thing
    called = f"{read_callable_name(thing)}()" if is_plain_function else read_callable_name(thing)
    raise TypeError(f"{verb} is for {own}, and {called} is {name}'s; {FRAMEWORKS[name].advice}")
