"""An owner and an object that it refers to -> its attributes that refer to the object.

The owner is an instance, a function, a class or a module. Its attributes are in a dict, in slots or
in fields of C. What C code keeps elsewhere has a place too, with a few words for a name.
"""

import functools
import types
from collections import deque
from contextlib import suppress
from gc import get_referents

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import read_instance_dict, read_namespace
from .places import FIXED_REASONS, Place, find_keys, format_key
from .places_in_calls import find_variables

FIXED_TYPE = "its type cannot be changed"
CONTAINER_TYPES = (dict, list, deque, tuple, set, frozenset)
# Bits of a type's __flags__ (Include/object.h).
_IMMUTABLE_TYPE = 1 << 8
_MANAGED_DICT = 1 << 4
# Attributes of types written in C whose getters return what is kept, and run nothing.
_PLAIN_GETTERS = {"__cause__", "__context__", "__self__", "args", "_coro", "_exception", "_result"}
_CALL_TYPES = (
    types.FrameType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
)


def is_immutable_type(cls: type) -> bool:
    """Return whether CPython refuses `cls.name = value` for every name."""
    return bool(cls.__flags__ & _IMMUTABLE_TYPE)


def find_part_kind(owner: object, part: dict) -> str:
    """Return the kind of the places in a dict that is a part of `owner`; "" if it is no part."""
    if real_isinstance(owner, types.ModuleType):
        return "hidden module attribute" if read_namespace(owner) is part else ""
    if real_isinstance(owner, type):
        class_dict = get_referents(vars(owner))[0]  # `vars` returns a read-only view of it
        return "class attribute" if class_dict is part else ""
    if real_isinstance(owner, types.FunctionType) and owner.__kwdefaults__ is part:
        return "keyword default"
    if read_instance_dict(owner) is not part:
        return ""
    is_function = real_isinstance(owner, types.FunctionType, functools._lru_cache_wrapper)
    return "function attribute" if is_function else "instance attribute"


def build_owned_place(kind: str, owner: object, part: dict, key: object) -> Place:
    """Return the place of a key in a dict that is a part of `owner`; `kind` is the place's kind."""
    if kind == "class attribute":
        reason = FIXED_TYPE if is_immutable_type(owner) else ""
        return Place(kind, owner, key, position=key, reason=reason)
    if kind == "keyword default":
        name = f"__kwdefaults__{format_key(key)}"
    elif type(key) is str:
        name = key
    else:
        name = format_key(key)
    return Place(kind, part, name, holder=owner, position=key)


def find_in_instance(holder: object, value: object) -> list[Place]:
    """Return the attributes of an instance that refer to `value`, and its references in C."""
    attributes = read_instance_dict(holder)
    kind = "" if attributes is None else find_part_kind(holder, attributes)
    places = []
    if kind:
        for key in find_keys(attributes, value):
            places.append(build_owned_place(kind, holder, attributes, key))
    if real_isinstance(holder, *CONTAINER_TYPES):
        # Its items are no references in C. A subclass may have slots, as a defaultdict has a field
        # for its default_factory.
        return places + _find_in_slots(holder, value)

    if _count_references_in_c(holder, value, attribute_count=len(places)) <= 0:
        return places
    places_in_c = find_variables(holder, value) or _find_in_slots(holder, value)
    if not places_in_c and real_isinstance(holder, types.FunctionType):
        places_in_c = _find_in_annotations(holder, value)
    if not places_in_c:
        places_in_c = [Place("C-level holder", holder, _name_part_in_c(holder, value))]
    return places + places_in_c


def _count_references_in_c(holder: object, value: object, attribute_count: int) -> int:
    """Return how many references of `holder` to `value` are held by C code.

    Those are all that the collector counts, without the reference to the type, and without the
    `attribute_count` attributes if CPython keeps these in the object itself and not in a dict.
    """
    count = sum(referent is value for referent in get_referents(holder))
    if type(holder) is value:
        count -= 1
    if type(holder).__flags__ & _MANAGED_DICT:
        count -= attribute_count
    return count


def _find_in_slots(holder: object, value: object) -> list[Place]:
    """Return the slots, and the attributes kept in C, that refer to `value`."""
    places = []
    for base in type(holder).__mro__:
        for name, descriptor in vars(base).items():
            if not _is_readable(name, descriptor):
                continue
            with suppress(AttributeError):  # it is empty
                if descriptor.__get__(holder) is value:
                    reason = FIXED_REASONS["C-level holder"]
                    places.append(Place("instance attribute", holder, name, reason=reason))
    return places


def _is_readable(name: str, descriptor: object) -> bool:
    """Return whether reading an attribute through this descriptor of a class runs no code."""
    if type(descriptor) is types.MemberDescriptorType:
        return True
    return name in _PLAIN_GETTERS and type(descriptor) is types.GetSetDescriptorType


def _find_in_annotations(function: types.FunctionType, value: object) -> list[Place]:
    """Return the place of annotations that CPython still has as a tuple of names and values."""
    if type(value) is not tuple:
        return []
    if function.__defaults__ is value or function.__closure__ is value:
        return []
    return [Place("C-level holder", function, "__annotations__")]


def _name_part_in_c(holder: object, value: object) -> str:
    """Return in words what part of an object written in C refers to `value`."""
    if is_exactly(holder, *_CALL_TYPES):
        return "(on its value stack)"
    if type(holder) is functools._lru_cache_wrapper and holder.__wrapped__ is not value:
        return "(its cache)"
    return "(inside the C object)"
