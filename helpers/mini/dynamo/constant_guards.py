"""An immutable value -> guards that hold for this very value alone, and whether it can be written.

`==` hides much: 1 == 1.0 == True, 0.0 == -0.0, range(0, 3, 2) == range(0, 4, 2). So a value is
asked for its exact type and its fields. Mirrors CONSTANT_MATCH and EQUALS_MATCH in
torch/_dynamo/guards.py.
"""

import math
import struct
import sys
from types import EllipsisType, NoneType

import torch

from helpers.mini.dynamo.cache_entry import BUILTINS
from helpers.mini.dynamo.symbolic_values import is_one_of

LONGEST = 200  # letters, or bits, of what is written into generated source
BIGGEST = 1 << 20  # bytes of what is kept as a constant
SINGLE = (torch.dtype, torch.layout, torch.memory_format)
FIELDS = {
    complex: ("real", "imag"),
    range: ("start", "stop", "step"),
    slice: ("start", "stop", "step"),
}


def exactly(source: str, value, name) -> list[str]:
    """Return expressions that are true of values that nothing tells apart from this one.

    `name(thing, hint)` returns a name under which a guard finds a thing.
    """
    kind = type(value)
    if is_one_of(kind, (NoneType, bool, EllipsisType)):
        return [f"{source} is {value}"]
    if is_one_of(kind, SINGLE):
        return [f"{source} is {name(value, 'the_' + kind.__name__)}"]
    if kind is float and value != value:  # sign and payload, which only identity keeps
        return [f"{source} is {name(value, 'a_nan')}"]
    if kind is float:
        return [f"type({source}) is float", f"{source}.hex() == {value.hex()!r}"]
    known = BUILTINS.get(kind.__name__) is kind
    word = kind.__name__ if known else name(kind, f"class_{kind.__name__}")
    named = f"type({source}) is {word}"
    if kind in FIELDS:
        parts = FIELDS[kind]
        fields = [exactly(f"{source}.{part}", getattr(value, part), name) for part in parts]
        return [named, *(text for texts in fields for text in texts)]
    if is_one_of(kind, (tuple, torch.Size)):
        items = [exactly(f"{source}[{at}]", item, name) for at, item in enumerate(value)]
        return [
            f"{named} and len({source}) == {len(value)}",
            *(text for texts in items for text in texts),
        ]
    literal = is_one_of(kind, (int, str)) and is_short(value)
    same = repr(value) if literal else name(value, f"a_{kind.__name__}")
    return [named, f"{source} == {same}"]  # int, str, bytes, device


def is_short(value) -> bool:
    """Return whether the source of a number or a string is short, and is that value again."""
    if type(value) is int:
        return value.bit_length() <= LONGEST
    if type(value) is float:
        return math.isfinite(value)
    return type(value) is not str or len(value) <= LONGEST


def is_writable(value) -> bool:
    """Return whether FX writes a constant so that Python reads the same one (fx/graph.py)."""
    if type(value) is float and value != value:
        return struct.pack("<d", value) == struct.pack("<d", math.nan)
    if type(value) is complex:  # `infj` is a name, `1-0j` a difference, `-2j` has a real -0.0
        if not math.isfinite(value.real) or not math.isfinite(value.imag):
            return False
        again = eval(repr(value))
        return (again.real.hex(), again.imag.hex()) == (value.real.hex(), value.imag.hex())
    if type(value) is slice:
        return all(is_writable(part) for part in (value.start, value.stop, value.step))
    if isinstance(value, (tuple, list)):
        return all(map(is_writable, value))
    return not is_one_of(type(value), (int, str, bytes)) or sys.getsizeof(value) <= BIGGEST // 1024


def is_small(value) -> bool:
    """Return whether a constant is small enough to be kept for later calls."""
    if isinstance(value, (tuple, list)):
        return len(value) <= BIGGEST // 64 and all(map(is_small, value))
    return sys.getsizeof(value) <= BIGGEST
