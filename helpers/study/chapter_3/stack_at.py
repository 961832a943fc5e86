"""Chapter 3: what is on the value stack just before an instruction?"""

from helpers.capture.text.value import brief
from helpers.safety.arguments import is_exactly
from helpers.study.chapter_3.compare_runs import kept_by_cpython
from helpers.study.check import Exercise

MOST = 100


def _judge_stack(guess, fn, args, offset):
    if not is_exactly(guess, list, tuple):
        return "give the values as a list, the bottom of the stack first, such as [1, 2]"
    if len(guess) > MOST:
        return f"no stack here holds more than {MOST} values; the operands are popped for good"
    if type(args) is not tuple:
        return "the arguments of the call must be a tuple, such as (3, 4)"
    stacks = [stack for place, stack in kept_by_cpython(fn, args) if place == offset]
    if not stacks:
        return f"no instruction starts at offset {brief(offset)} in a run of {brief(fn)}"
    stack, told = stacks[0], tuple(map(brief, guess))
    if told == stack:
        return None
    if told == stack[::-1]:
        return "those are the values, but the bottom comes first: the top of the stack is the last"
    if told == stack[-2:]:
        return "those two are its operands; below them wait values that are used later"
    if len(told) == len(stack) - 1 and told[:-1] == stack[:-2]:
        return "that is the stack after the instruction ran; asked is the stack just before it"
    if len(told) > len(stack):
        return f"there are {len(stack)} values: an operand that was used is popped for good"
    return "run it in your head: a load pushes one value, an operator pops two and pushes one"


STACK_AT = Exercise(
    "stack_at",
    _judge_stack,
    "You kept the waiting values apart from the operands.",
    (
        "Read the function from left to right. What is computed first, and where does it wait?",
        "Each operator pops its two operands and pushes one result; results wait on the stack.",
        "Below the two operands of the third operator lie the results of the first two.",
    ),
)
