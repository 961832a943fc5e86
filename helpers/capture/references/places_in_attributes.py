"""Find the attributes of an owner (an instance, a function, a class or a module) that refer to a
given object, as a list of Places. The garbage collector reports the *dict* in which attributes are;
this module tells whose attributes they are.

Attributes may also be in slots or in fields of a C struct. A reference that C code keeps elsewhere
has a Place too, whose name is a few words such as "(its cache)".
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
    """Return the kind of the places in the dict `part`, such as "instance attribute".

    The text is "" if the dict is no part of `owner`: it may be an ordinary dict to which an
    attribute of the owner refers.
    """
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
    """Return the Place of a key in a dict that is a part of `owner`.

    `kind` is the result of `find_part_kind` for the owner and the dict.
    """
    if kind == "class attribute":
        # It is written by `setattr` on the class, because the dict of a class is read-only.
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
    """Return the Places in which an instance refers to `value`.

    These are its attributes, and references that C code keeps: in slots, in the frame of a
    generator, or in a struct.
    """
    attributes = read_instance_dict(holder)
    kind = "" if attributes is None else find_part_kind(holder, attributes)
    places = []
    if kind:
        for key in find_keys(attributes, value):
            places.append(build_owned_place(kind, holder, attributes, key))
    if real_isinstance(holder, *CONTAINER_TYPES):
        # The items of a container are found elsewhere. Here only slots are left, such as the field
        # `default_factory` of a defaultdict.
        return places + _find_in_slots(holder, value)

    if _count_references_in_c(holder, value, attribute_count=len(places)) <= 0:
        return places  # the attributes are all references to `value` that there are
    # The references in C get the best name that can be found for them.
    places_in_c = find_variables(holder, value) or _find_in_slots(holder, value)
    if not places_in_c and real_isinstance(holder, types.FunctionType):
        places_in_c = _find_in_annotations(holder, value)
    if not places_in_c:
        places_in_c = [Place("C-level holder", holder, _name_part_in_c(holder, value))]
    return places + places_in_c


def _count_references_in_c(holder: object, value: object, attribute_count: int) -> int:
    """Return how many references of `holder` to `value` are held by C code.

    The garbage collector reports all references of `holder`. Two kinds are subtracted: the
    reference to the type, and `attribute_count` attributes if CPython stores the attributes in the
    object itself. Attributes in a dict are not reported for `holder`, but for the dict.
    """
    count = sum(referent is value for referent in get_referents(holder))
    if type(holder) is value:
        count -= 1
    if type(holder).__flags__ & _MANAGED_DICT:
        count -= attribute_count
    return count


def _find_in_slots(holder: object, value: object) -> list[Place]:
    """Return a Place for each slot, or attribute stored in a C struct, that refers to `value`."""
    places = []
    for base in type(holder).__mro__:
        for name, descriptor in vars(base).items():
            if not _is_readable(name, descriptor):
                continue
            with suppress(AttributeError):  # the slot is empty
                if descriptor.__get__(holder) is value:
                    reason = FIXED_REASONS["C-level holder"]
                    places.append(Place("instance attribute", holder, name, reason=reason))
    return places


def _is_readable(name: str, descriptor: object) -> bool:
    """Return whether an attribute can be read through this descriptor without running code."""
    if type(descriptor) is types.MemberDescriptorType:
        return True
    return name in _PLAIN_GETTERS and type(descriptor) is types.GetSetDescriptorType


def _find_in_annotations(function: types.FunctionType, value: object) -> list[Place]:
    """Return the Place of a function's annotations, if `value` is the tuple that has them.

    CPython first stores annotations as one tuple of names and values, and makes the dict when a
    program asks for it. The tuple has no attribute. So it is a tuple of the function that is
    neither its defaults nor its closure.
    """
    if type(value) is not tuple:
        return []
    if function.__defaults__ is value or function.__closure__ is value:
        return []
    return [Place("C-level holder", function, "__annotations__")]


def _name_part_in_c(holder: object, value: object) -> str:
    """Return a few words in brackets on which part of an object in C refers to `value`."""
    if is_exactly(holder, *_CALL_TYPES):
        return "(on its value stack)"
    if type(holder) is functools._lru_cache_wrapper and holder.__wrapped__ is not value:
        return "(its cache)"
    return "(inside the C object)"
