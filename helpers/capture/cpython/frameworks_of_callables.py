"""A callable and its arguments -> the frameworks that they are of, so that a verb can refuse some.

A framework is recognised by the names of modules, so none is imported to find out.
"""

from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

from ...safety.arguments import is_exactly, real_isinstance
from .objects import list_global_names, read_callable_name, read_instance_dict
from .unwrapping import find_called_function

UNSEEN = "This uses jax. Only the keys, graphs and ops of TensorFlow and PyTorch are shown."


class Framework(NamedTuple):
    """A framework that a callable may be of."""

    #: Its packages.
    packages: frozenset[str]
    #: Which verbs to use for it.
    advice: str


FRAMEWORKS = {
    "TensorFlow": Framework(frozenset({"tensorflow", "keras"}), "use show_graph or watch_traces"),
    "PyTorch": Framework(frozenset({"torch"}), "use show_fx or show_compiled"),
    "jax": Framework(frozenset({"jax", "jaxlib"}), "no verb looks inside jax"),
}


def find_frameworks(thing: object, args: tuple = ()) -> set[str]:
    """Return the names of the `FRAMEWORKS` of a callable, its arguments, and the names it uses."""
    function = find_called_function(thing, args)
    values = [thing, *args, function]
    if function is not None:
        global_names = list_global_names(function.__code__) & function.__globals__.keys()
        values += [function.__globals__[name] for name in global_names]

    packages = set()
    for value in values:
        for module_name in _list_module_names(value):
            if real_isinstance(module_name, str):
                packages.add(module_name.partition(".")[0])
    return {name for name, framework in FRAMEWORKS.items() if packages & framework.packages}


def _list_module_names(value: object) -> Iterator[object]:
    """Yield the names of the modules of an object, its class and their bases.

    A class may say `__module__` with a property, so not all that is yielded is text.
    """
    if is_exactly(value, MethodType, BuiltinFunctionType):
        value = value.__self__
    classes = value.__mro__ if real_isinstance(value, type) else type(value).__mro__
    for cls in classes:
        yield vars(cls).get("__module__")
    attributes = read_instance_dict(value) or {}
    yield attributes.get("__name__" if type(value) is ModuleType else "__module__")
    if type(value) is FunctionType:
        yield value.__module__


def refuse_other_framework(thing: object, args: tuple, verb: str, own: str) -> None:
    """Raise TypeError for an object that is of another framework than `own`, and not of `own`."""
    frameworks = find_frameworks(thing, args)
    if not frameworks or own in frameworks:
        return
    name = min(frameworks)
    is_plain_function = find_called_function(thing) is thing
    words = f"{read_callable_name(thing)}()" if is_plain_function else read_callable_name(thing)
    raise TypeError(f"{verb} is for {own}, and {words} is {name}'s; {FRAMEWORKS[name].advice}")
