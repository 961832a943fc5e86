"""A function and its arguments -> all that a call can reach, with the path to each object. The
search begins at the function and its arguments, the *roots*, and visits what they refer to. A path
is how the program reaches an object, as in "self.items[0]". What containers and plain objects
contain is copied (an OwnerSnapshot), so that a change can be found later. Any other object is a
*leaf*. The code of each function that is reached says which globals and attributes are visited
next. A *namespace* is a class or a module.
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
    LibraryAttributes,
    OwnerSnapshot,
    snapshot_owner,
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
    is_called_implicitly,
    is_plain_object,
    is_tf_generator,
    is_users_namespace,
    is_visited_unnamed,
)

MOST_OBJECTS = 50_000
STREAMS = ("stderr", "__stdout__", "__stderr__")  # of `sys`; what is printed there is not recorded
# A type -> the attributes in which an object of the type keeps what it wraps.
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
        """Visit the roots, each a pair (path, object), and all that they refer to.

        If not `follows_code`, functions, classes and modules are leaves that are not looked into.
        """
        #: whether there were more than MOST_OBJECTS objects, so that some were not visited
        self.is_cut = False
        #: the objects that are no containers and no plain objects, such as arrays and functions
        self.leaves: list = []
        #: id of an object -> the copy of its contents, with which it is compared later
        self.snapshots_by_id: dict[int, OwnerSnapshot] = {}
        #: (path, generator, its state) of each tf.random.Generator
        self.generators: list[tuple[str, object, tuple[int, ...]]] = []
        #: what the code can use to reach objects that it does not name, such as `exec`
        self.ways_around_names: set[str] = set()
        self._follows_code = follows_code
        # The names of the attributes that the visited code may read, and that it may set.
        self._attribute_names: set[str] = set()
        self._set_names: set[str] = set()
        # The classes and modules that were visited, with their paths.
        self._namespaces: list[PathAndObject] = []
        # id -> object, during the search. The objects are kept alive, so that no other object gets
        # one of these ids.
        self._visited: dict[int, object] = {}
        self._visit_all(roots)

    def sets_attribute_of(self, leaf) -> bool:
        """Return whether `leaf` is a module of a derived class, and the code may set an attribute.

        Such a module may compute its attributes, like `torch.backends.cudnn`. They are not
        compared, so a change of them would not be noticed.
        """
        if not real_isinstance(leaf, ModuleType) or type(leaf) is ModuleType:
            return False
        # All classes of the leaf, except ModuleType and `object`, which are the last ones.
        classes = type(leaf).__mro__[: -len(ModuleType.__mro__)]
        names = set(read_namespace(leaf))
        for cls in classes:
            names |= set(vars(cls))
        return not self._set_names.isdisjoint(names)

    def _visit_all(self, roots: list[PathAndObject]) -> None:
        """Visit the roots, and then what the visited code names, until nothing new is found."""
        waiting = list(roots)
        while waiting and not self.is_cut:
            self._visit(waiting)
            # The visited code may name attributes of namespaces that were visited before it.
            waiting = [pair for pair in self._find_named() if id(pair[1]) not in self._visited]
        # Now all names are known that the code may set. Of a library's namespace, only the
        # attributes with these names are copied.
        for path, namespace in self._namespaces:
            if self._set_names and not is_users_namespace(namespace):
                attributes = LibraryAttributes(namespace, self._set_names)
                self._copy_contents(path, BY_ATTRIBUTE, attributes)
        # The program may drop an object during the call, and then its `__del__` has to run. So no
        # reference to the object may stay here.
        self._visited.clear()

    def _visit(self, waiting: list[PathAndObject]) -> None:
        """Visit the objects of a list of (path, object), and all that they refer to.

        What they refer to is appended to the list while the loop runs over it.
        """
        for path, value in waiting:
            if id(value) not in self._visited:
                self._visited[id(value)] = value
                waiting += self._look_into(path, value)
                # A method of the object may change attributes of its class.
                cls = type(value)
                if id(cls) not in self._visited and not is_library_class(cls):
                    waiting.append((read_callable_name(cls), cls))
            if len(self._visited) > MOST_OBJECTS:
                self.is_cut = True
                break

    def _find_named(self) -> Iterator[PathAndObject]:
        """Yield (path, value) of the attributes of visited namespaces that the visited code names.

        Of a library's namespace, only classes, modules and those streams of `sys` are yielded that
        no other check watches. The functions of a library are not followed, because what they
        reach is the library's own.
        """
        for path, namespace in self._namespaces:
            is_users = is_users_namespace(namespace)
            attributes = vars(namespace)
            for name in sorted(self._attribute_names & attributes.keys()):
                is_stream = namespace is sys and name in STREAMS
                is_namespace = real_isinstance(attributes[name], type, ModuleType)
                if is_users or is_stream or is_namespace:
                    yield f"{path}.{name}", attributes[name]

    def _look_into(self, path: str, value) -> list[PathAndObject]:
        """Copy the contents of an object, or note it as a leaf; return what it refers to.

        The result is a list of pairs (path, object), which are visited next.
        """
        # A tuple or a frozenset cannot be changed itself, so only the items matter.
        if real_isinstance(value, tuple):
            # A derived class may have its own `__iter__`, which must not run.
            return _list_items(path, tuple.__iter__(value))
        if real_isinstance(value, frozenset):
            return _list_items(path, frozenset.__iter__(value))

        attributes = read_instance_dict(value) if is_plain_object(value) else None
        if attributes is not None:
            parts = self._copy_contents(path, BY_ATTRIBUTE, attributes)
            return [*parts, _find_call_method(path, value)]
        if is_exactly(value, list, dict, set):
            parts = self._copy_contents(path, BY_ITEM, value)
            return [*parts, _find_call_method(path, value)]

        # Any other object is a leaf. Below, its parts follow, as far as the program can change
        # them.
        self.leaves.append(value)
        if not self._follows_code and real_isinstance(value, *DEFINITIONS):
            return []
        if is_tf_generator(value):
            state = tensorflow_random.read_generator_state(value)
            if state:
                self.generators.append((path, value, state))
        return self._look_into_leaf(path, value)

    def _look_into_leaf(self, path: str, value) -> list[PathAndObject]:
        """Return what a leaf refers to: a definition, or an object of a library."""
        if real_isinstance(value, Enum, EnumMeta):
            return self._look_into_enum(path, value)
        if real_isinstance(value, type, ModuleType):
            return self._look_into_namespace(path, value)
        if type(value) is FunctionType:
            return self._look_into_function(path, value)
        attributes = item_of_type(value, WRAPPED_BY_TYPE)
        if attributes is None:
            # A tf.function has its Python function in this attribute. Any other object has none,
            # and the pair is (path, None), which changes nothing.
            return [(path, static_attribute(value, "_python_function"))]
        return [(f"{path}.{name}", getattr(value, name)) for name in attributes]

    def _look_into_enum(self, path: str, value) -> list[PathAndObject]:
        """Copy the attributes of an Enum member, or of an Enum class; return what they refer to.

        The Enums of a library are left out.
        """
        enum_class = value if real_isinstance(value, EnumMeta) else type(value)
        if is_library_class(enum_class):
            return []
        if value is not enum_class:  # it is a member
            parts = self._copy_contents(path, BY_ATTRIBUTE, vars(value))
            return [*parts, (read_callable_name(enum_class), enum_class)]
        members = enum_class.__members__.items()
        named_members = [(f"{path}.{name}", member) for name, member in members]
        return named_members + self._look_into_namespace(path, enum_class)

    def _look_into_namespace(self, path: str, namespace) -> list[PathAndObject]:
        """Copy the attributes of the user's class or module; return what is visited in any case.

        Visited in any case are base classes, containers, plain objects, and methods that code calls
        without their names. `_find_named` visits other attributes, if the code names them.
        """
        is_class = real_isinstance(namespace, type)
        if path == "__class__":  # reached through the cell by which `super()` finds the class
            path = read_callable_name(namespace)
        if is_class or type(namespace) is ModuleType:
            self._namespaces.append((path, namespace))
        base_classes = namespace.__mro__[1:-1] if is_class else ()  # all but itself and `object`
        bases = [(read_callable_name(base), base) for base in base_classes]
        if not is_users_namespace(namespace):
            return bases

        self._copy_contents(path, BY_ATTRIBUTE, namespace if is_class else vars(namespace))
        # A library calls methods that override those of its own classes.
        library_names = set()
        for base in base_classes:
            if is_library_class(base):
                library_names |= set(vars(base))
        parts = []
        for name, part in vars(namespace).items():
            if is_visited_unnamed(part, name) or is_called_implicitly(part, name, library_names):
                parts.append((f"{path}.{name}", part))
        return parts + bases

    def _look_into_function(self, path: str, function: FunctionType) -> list[PathAndObject]:
        """Note what a function's code can rebind and set; return what the function refers to.

        These are its globals, free variables, default values and attributes, and what it imports.
        """
        code = function.__code__
        if is_library(code.co_filename):
            # A library's wrapper around a function of the user, such as that of a decorator. Its
            # own globals and cells belong to the library.
            return [(path, function.__dict__.get("__wrapped__"))]

        # All globals are copied, because the code may rebind any of them. Only those that the code
        # names are visited.
        module_globals = function.__globals__
        self._copy_contents("", BY_NAME, module_globals)
        global_names = list_global_names(code)
        ways_around_names = find_ways_around_names(code)
        if ways_around_names:  # such as `exec`, so any string of the code may be code
            self.ways_around_names |= ways_around_names
            global_names |= find_names_in_strings(code) & module_globals.keys()
        self._attribute_names |= find_attribute_names(code)
        self._set_names |= find_set_attributes(code)

        parts = [(name, module_globals.get(name)) for name in sorted(global_names)]
        parts += find_imported_modules(function).items()
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            # The name of a free variable is also the path of what the cell contains.
            parts += self._copy_contents("", name, cell)
        parts += _list_defaults(function)
        parts += self._copy_contents(path, BY_ATTRIBUTE, function.__dict__)
        return parts

    def _copy_contents(self, path: str, pattern: str, owner) -> list[PathAndObject]:
        """Copy what an object contains now; return (path, part) of each of its parts.

        `path` and `pattern` are those of the OwnerSnapshot. If an object is reached on several
        paths, the first one counts.
        """
        snapshot = snapshot_owner(path, pattern, owner)
        self.snapshots_by_id.setdefault(id(owner), snapshot)
        return snapshot.list_parts()


def _list_items(path: str, items: Iterator) -> list[PathAndObject]:
    """Return (path, item) of the items of a tuple or a frozenset, as in ("pair[0]", 3)."""
    return [(f"{path}[{index}]", item) for index, item in enumerate(items)]


def _find_call_method(path: str, value) -> PathAndObject:
    """Return the path and the method `__call__` of an object, or None in place of the method."""
    return f"{path}.__call__", static_attribute(value, "__call__")


def _list_defaults(function: FunctionType) -> list[PathAndObject]:
    """Return (name of the parameter, value) for each default value of a function."""
    code = function.__code__
    defaults = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    keyword_defaults = function.__kwdefaults__ or {}
    # `strict` is off because a program may set more defaults than the function has parameters.
    return [*zip(names, defaults, strict=False), *keyword_defaults.items()]
