"""Chapter 3: what is on the value stack just before an instruction?"""

from helpers.capture.text.value import brief
from helpers.mini import vm
from helpers.safety.arguments import is_exactly
from helpers.study.check import Exercise, Mistake

MOST = 100


def _judge_stack(guess, fn, args, offset):
    if not is_exactly(guess, list, tuple):
        return "give the values as a list, the bottom of the stack first, such as [1, 2]"
    if len(guess) > MOST:
        return f"no stack here holds more than {MOST} values; the operands are popped for good"
    if type(args) is not tuple:
        return "the arguments of the call must be a tuple, such as (3, 4)"
    steps = [s for s in vm.trace(fn, *args).steps if s.depth == 0 and s.offset == offset]
    if not steps:
        return f"no instruction starts at offset {brief(offset)} in a run of {brief(fn)}"
    stack, told = steps[0].stack, tuple(vm.record.words(value) for value in guess)
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
    (
        Mistake("guess = [1, 3, 5, 12]", "the bottom comes first"),
        Mistake("guess = [3, 1]", "below them wait values"),
        Mistake("guess = [12, 5, 2]", "the stack after the instruction"),
        Mistake("guess = [4, 3, 4, 1, 3, 1]", "popped for good"),
        Mistake("guess = [12, 4, 3, 1]", "run it in your head"),
        Mistake("guess = 12", "as a list"),
    ),
)
