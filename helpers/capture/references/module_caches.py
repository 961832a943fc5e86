"""Reach the cache in C by which a module of TensorFlow answers `tf.name` before its dict is asked.
TensorFlow wraps some of its modules in a `TFModuleWrapper`, which has this cache.

The wrapper (tensorflow/python/util/module_wrapper.py) has three copies of a name: in its own dict,
in the dict of the module that it wraps, and in the cache (python/util/fast_module_type.cc). A
look-up that the cache does not answer is stored in the cache.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from ...safety.arguments import real_isinstance
from ..cpython.objects import read_namespace


@dataclass(frozen=True)
class ModuleCache:
    """The cache of a `TFModuleWrapper`, through the functions that the wrapper has for it."""

    #: The module that is wrapped.
    wrapped: ModuleType
    #: `has(name)`: whether the cache answers for a name.
    has: Callable[[str], bool]
    #: `get(name)` returns what it answers.
    get: Callable[[str], object]
    #: `insert(name, value)` makes it answer so.
    insert: Callable[[str, object], None]
    #: `pop(name)` makes it forget a name.
    pop: Callable[[str], object]


def find_module_cache(module: ModuleType) -> ModuleCache | None:
    """Return the cache of a module that TensorFlow wraps, None for any other module.

    TensorFlow is not imported: the wrapper is recognised by the name of its class.
    """
    wrapped = dict.get(read_namespace(module), "_tfmw_wrapped_module")
    class_names = [cls.__name__ for cls in type(module).__mro__]
    if "TFModuleWrapper" not in class_names or not real_isinstance(wrapped, ModuleType):
        return None

    def find_method(name: str) -> Callable:
        """Return a method of the wrapper itself.

        `module.name` would call the wrapper's own `__getattribute__`, which asks the cache.
        """
        return object.__getattribute__(module, name)

    return ModuleCache(
        wrapped=wrapped,
        has=find_method("_fastdict_key_in"),
        get=find_method("_fastdict_get"),
        insert=find_method("_fastdict_insert"),
        pop=find_method("_fastdict_pop"),
    )
