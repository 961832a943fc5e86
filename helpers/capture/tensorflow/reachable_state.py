"""A function and its arguments -> all that a call can reach, with the path to each object.

Containers and plain objects are kept, so that a change of them can be found. Everything else is a
leaf. The code of each function that is reached says which globals, attributes and modules follow.
"""

import sys
from collections.abc import Iterator
from enum import Enum, EnumMeta
from functools import cached_property, partial, partialmethod
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from ...internals import tensorflow_random
from ...safety.arguments import is_exactly, item_of_type, real_isinstance, static_attribute
from ...safety.users_frames import is_library
from ..cpython.objects import (
    list_global_names,
    read_callable_name,
    read_instance_dict,
    read_namespace,
)
from ..text.value import is_library_class
from .kept_state import (
    BY_ATTRIBUTE,
    BY_ITEM,
    BY_NAME,
    KeptOwner,
    LibraryAttributes,
    keep_owner,
)
from .reach_of_code import (
    find_attribute_names,
    find_imported_modules,
    find_names_in_strings,
    find_set_attributes,
    find_ways_around_names,
)
from .state_kinds import (
    CACHE,
    DEFINITIONS,
    is_called_unnamed,
    is_kept_unnamed,
    is_plain_object,
    is_tf_generator,
    is_users_space,
)

MOST_OBJECTS = 50_000
STREAMS = ("stderr", "__stdout__", "__stderr__")  # of `sys`; what is printed there is not recorded
# A type -> the attributes in which it keeps what it wraps.
WRAPPED_BY_TYPE = {
    MethodType: ("__func__", "__self__"),
    BuiltinFunctionType: ("__self__",),
    partial: ("func", "args", "keywords"),
    partialmethod: ("func", "args", "keywords"),
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    cached_property: ("func",),
    CACHE: ("__wrapped__",),
}

PathAndObject = tuple[str, object]


class ReachableState:
    """All that a call can change, as it is now, with the path by which it was reached."""

    def __init__(self, roots: list[PathAndObject], follows_code: bool = True):
        """Look into the roots, which are paths with objects, and into all that they refer to.

        If not `follows_code`, functions, classes and modules are not looked into.
        """
        #: whether there were too many objects, so that some were not looked into
        self.is_cut = False
        #: the objects that are not compared
        self.leaves: list = []
        #: the objects that are compared, by their ids
        self.kept_owners: dict[int, KeptOwner] = {}
        #: of each tf.random.Generator: its path, the generator, and its state
        self.generators: list[tuple[str, object, tuple[int, ...]]] = []
        #: what the code can use to reach objects that it does not name, such as `exec`
        self.ways_around_names: set[str] = set()
        self._follows_code = follows_code
        # The names of the attributes that the code reads, and that it sets.
        self._attribute_names: set[str] = set()
        self._set_names: set[str] = set()
        # The classes and modules, with their paths.
        self._spaces: list[PathAndObject] = []
        # By id, during the search. The objects are kept, so that no other object gets their ids.
        self._visited: dict[int, object] = {}
        self._visit_all(roots)

    def sets_attribute_of(self, leaf) -> bool:
        """Return whether the code may set an attribute of this module of a class of its own.

        Such a module computes its attributes, so that they are not compared.
        """
        if not real_isinstance(leaf, ModuleType) or type(leaf) is ModuleType:
            return False
        # The classes below ModuleType, from which all of these inherit last.
        classes = type(leaf).__mro__[: -len(ModuleType.__mro__)]
        names = set(read_namespace(leaf))
        for cls in classes:
            names |= set(vars(cls))
        return not self._set_names.isdisjoint(names)

    def _visit_all(self, roots: list[PathAndObject]) -> None:
        """Visit the roots, and then what the code visited so far names, until nothing is new."""
        waiting = list(roots)
        while waiting and not self.is_cut:
            self._visit(waiting)
            waiting = [pair for pair in self._find_named() if id(pair[1]) not in self._visited]
        # Only now are all names known that the code sets; libraries are compared in these alone.
        for path, space in self._spaces:
            if self._set_names and not is_users_space(space):
                self._keep(path, BY_ATTRIBUTE, LibraryAttributes(space, self._set_names))
        # The program may drop an object in the call, and its `__del__` has to run then.
        self._visited.clear()

    def _visit(self, waiting: list[PathAndObject]) -> None:
        """Visit the objects in a list, and all that they refer to; the list grows meanwhile."""
        for path, value in waiting:
            if id(value) not in self._visited:
                self._visited[id(value)] = value
                waiting += self._look_into(path, value)
                cls = type(value)
                if id(cls) not in self._visited and not is_library_class(cls):
                    waiting.append((read_callable_name(cls), cls))
            if len(self._visited) > MOST_OBJECTS:
                self.is_cut = True
                break

    def _find_named(self) -> Iterator[PathAndObject]:
        """Yield the attributes of classes and modules that the code visited so far names.

        Of a library these are its classes and modules, and the streams that are not recorded. What
        a function of a library reaches is the library's own.
        """
        for path, space in self._spaces:
            is_users = is_users_space(space)
            attributes = vars(space)
            for name in sorted(self._attribute_names & attributes.keys()):
                is_stream = space is sys and name in STREAMS
                is_space = real_isinstance(attributes[name], type, ModuleType)
                if is_users or is_stream or is_space:
                    yield f"{path}.{name}", attributes[name]

    def _look_into(self, path: str, value) -> list[PathAndObject]:
        """Keep an object, or note it as a leaf; return what it refers to."""
        if real_isinstance(value, tuple):
            # A class derived from tuple may have an `__iter__` of its own.
            return _list_items(path, tuple.__iter__(value))
        if real_isinstance(value, frozenset):
            return _list_items(path, frozenset.__iter__(value))

        attributes = read_instance_dict(value) if is_plain_object(value) else None
        if attributes is not None:
            parts = self._keep(path, BY_ATTRIBUTE, attributes)
            return [*parts, _find_call_method(path, value)]
        if is_exactly(value, list, dict, set):
            parts = self._keep(path, BY_ITEM, value)
            return [*parts, _find_call_method(path, value)]

        self.leaves.append(value)
        if not self._follows_code and real_isinstance(value, *DEFINITIONS):
            return []
        if is_tf_generator(value):
            state = tensorflow_random.generator_state(value)
            if state:
                self.generators.append((path, value, state))
        return self._look_into_leaf(path, value)

    def _look_into_leaf(self, path: str, value) -> list[PathAndObject]:
        """Return what a definition, or an object of a library, refers to."""
        if real_isinstance(value, Enum, EnumMeta):
            return self._look_into_enum(path, value)
        if real_isinstance(value, type, ModuleType):
            return self._look_into_space(path, value)
        if type(value) is FunctionType:
            return self._look_into_function(path, value)
        attributes = item_of_type(value, WRAPPED_BY_TYPE)
        if attributes is None:  # any other object; a tf.function wraps a Python function
            return [(path, static_attribute(value, "_python_function"))]
        return [(f"{path}.{name}", getattr(value, name)) for name in attributes]

    def _look_into_enum(self, path: str, value) -> list[PathAndObject]:
        """Keep the attributes of an Enum member, or of an Enum class; none of a library's."""
        enum_class = value if real_isinstance(value, EnumMeta) else type(value)
        if is_library_class(enum_class):
            return []
        if value is not enum_class:  # it is a member
            parts = self._keep(path, BY_ATTRIBUTE, vars(value))
            return [*parts, (read_callable_name(enum_class), enum_class)]
        members = enum_class.__members__.items()
        named_members = [(f"{path}.{name}", member) for name, member in members]
        return named_members + self._look_into_space(path, enum_class)

    def _look_into_space(self, path: str, space) -> list[PathAndObject]:
        """Keep the attributes of a user's class or module; return what is reached unnamed.

        What the code names of a class or a module is found later, when all code is known.
        """
        is_class = real_isinstance(space, type)
        if path == "__class__":  # the cell by which a method finds its class for `super`
            path = read_callable_name(space)
        if is_class or type(space) is ModuleType:
            self._spaces.append((path, space))
        base_classes = space.__mro__[1:-1] if is_class else ()  # without itself and `object`
        bases = [(read_callable_name(base), base) for base in base_classes]
        if not is_users_space(space):
            return bases

        self._keep(path, BY_ATTRIBUTE, space if is_class else vars(space))
        names_of_libraries = set()
        for base in base_classes:
            if is_library_class(base):
                names_of_libraries |= set(vars(base))
        parts = []
        for name, part in vars(space).items():
            if is_kept_unnamed(part, name) or is_called_unnamed(part, name, names_of_libraries):
                parts.append((f"{path}.{name}", part))
        return parts + bases

    def _look_into_function(self, path: str, function: FunctionType) -> list[PathAndObject]:
        """Note what a function's code can rebind and set; return what the function refers to.

        These are its globals, free variables, default values and attributes, and what it imports.
        """
        code = function.__code__
        if is_library(code.co_filename):  # a wrapper: its globals and cells are the library's
            return [(path, function.__dict__.get("__wrapped__"))]

        module_globals = function.__globals__
        self._keep("", BY_NAME, module_globals)
        global_names = list_global_names(code)
        ways_around_names = find_ways_around_names(code)
        if ways_around_names:  # then any string of the code may be a name
            self.ways_around_names |= ways_around_names
            global_names |= find_names_in_strings(code) & module_globals.keys()
        self._attribute_names |= find_attribute_names(code)
        self._set_names |= find_set_attributes(code)

        parts = [(name, module_globals.get(name)) for name in sorted(global_names)]
        parts += find_imported_modules(function).items()
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            parts += self._keep("", name, cell)
        parts += _list_defaults(function)
        parts += self._keep(path, BY_ATTRIBUTE, function.__dict__)
        return parts

    def _keep(self, path: str, pattern: str, owner) -> list[PathAndObject]:
        """Keep what an object contains now; return its parts.

        `path` and `pattern` are as in KeptOwner. An object that is kept already stays as it was.
        """
        kept = keep_owner(path, pattern, owner)
        self.kept_owners.setdefault(id(owner), kept)
        return kept.list_parts()


def _list_items(path: str, items: Iterator) -> list[PathAndObject]:
    """Return the items of a tuple or a frozenset, which cannot be changed itself."""
    return [(f"{path}[{index}]", item) for index, item in enumerate(items)]


def _find_call_method(path: str, value) -> PathAndObject:
    """Return the path and the method `__call__` of an object; None in place of a missing one."""
    return f"{path}.__call__", static_attribute(value, "__call__")


def _list_defaults(function: FunctionType) -> list[PathAndObject]:
    """Return the default values of a function's parameters, by the parameters' names."""
    code = function.__code__
    defaults = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    keyword_defaults = function.__kwdefaults__ or {}
    # Somebody may have set more defaults than the function has parameters.
    return [*zip(names, defaults, strict=False), *keyword_defaults.items()]
