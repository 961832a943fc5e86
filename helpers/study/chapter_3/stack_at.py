"""Chapter 3: what is on the value stack just before an instruction?"""

import operator

from helpers.capture.text.value import brief
from helpers.study.chapter_3.kept_stacks import kept_by_cpython
from helpers.study.engine import Exercise, Untried, in_order

MOST = 100


def _judge(guess, fn, args, offset):
    items = [_plain(item) for item in in_order(guess, MOST, "the guess")]
    left = [str(place) for place, item in enumerate(items, 1) if item is ...]
    if left:
        raise Untried(f"place {', '.join(left)}, from the bottom," if items != [...] else "")
    kept = kept_by_cpython(fn, args)
    places = [n for n, (place, _) in enumerate(kept) if place == offset]
    if not places:
        return f"no instruction starts at offset {brief(offset)} in a run of {brief(fn)}"
    odd = next((item for item in items if type(item) is not int), None)
    if odd is not None:
        kind = "text" if isinstance(odd, str) else f"a {type(odd).__name__}"
        return f"the values here are whole numbers, and {brief(odd)} is {kind}"
    after = kept[places[0] + 1][1] if places[0] + 1 < len(kept) else None
    return _advice(tuple(map(brief, items)), kept[places[0]][1], after)


def _plain(item):
    """Return an array's integer as an int; anything else as it is."""
    if hasattr(type(item), "dtype") and hasattr(type(item), "__index__"):
        return operator.index(item)
    return item


def _advice(told: tuple, stack: tuple, after: tuple | None) -> str | None:
    if told == stack:
        return None
    if told == after:
        return "that is the stack after the instruction ran; asked is the stack just before it"
    if told == stack[::-1]:
        return "those are the values, but the bottom comes first: the top of the stack is the last"
    if told == stack[-2:]:
        return "those two are its operands; below them wait values that are used later"
    if told == stack[:-2]:
        return "those wait below; the instruction's two operands lie on top of them"
    if sorted(told) == sorted(stack):
        return "those are the values, in another order: each lies on what was pushed before it"
    if len(told) > len(stack):
        return f"there are {len(stack)} values: an operand that was used is popped for good"
    return "run it in your head: a name or number is pushed, an operator pops two and pushes one"


STACK_AT = Exercise(
    "stack_at",
    _judge,
    "You kept the waiting values apart from the operands.",
    (
        "Read the function from left to right. What is computed first, and where does it wait?",
        "Each operator pops its two operands and pushes one result; results wait on the stack.",
        "Below the two operands of the third operator lie the results of the first two.",
    ),
)
