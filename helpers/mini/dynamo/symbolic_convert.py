"""The symbolic interpreter: bytecode runs on symbolic values. A handler is named for its opcode.

Mirrors torch/_dynamo/symbolic_convert.py, class InstructionTranslatorBase.
"""

import operator

from ..versions import METHODS_BY_BIT, NULL_ABOVE
from .parts import OPERATORS, UNARY
from .resume_execution import Code
from .symbolic_values import (
    NULL,
    RESULT,
    SCALARS,
    Break,
    Items,
    IteratorVariable,
    Known,
    Refuse,
    Tensor,
)
from .variables import call, get_attribute, is_plain, iterate, truth

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

MOST_STEPS = 20_000


class Interpreter:
    """One frame of `fn`. `local` holds symbolic values by name, `stack` the symbolic stack.

    A handler gets the step of its instruction (`resume_execution.Step`): `step.arg` is the number
    in the bytecode, `step.value` what that stands for, such as a name or a constant.
    """

    def __init__(self, trace, fn, local: dict):
        """Prepare to run `fn` from its first step.

        `trace` is the `output_graph.Tracing` that records its calls, and `local` has the symbolic
        values of its parameters.
        """
        self.trace = trace
        self.fn = fn
        self.code = Code(fn.__code__)
        self.local = local
        self.stack = []
        self.position = 0  # of the next step
        self.step_count = 0
        # The names of the keyword arguments of the next call; KW_NAMES or CALL_KW sets them.
        self.keywords = ()
        self.condition = None  # the tensor that a branch needs the value of
        self.result = None

    def run(self):
        """Return the symbolic result; Break or Refuse where it does not go on."""
        while self.result is None:
            step = self.code.steps[self.position]
            self.position += 1
            self.step_count += 1
            if self.step_count > MOST_STEPS:
                raise Refuse(f"more than {MOST_STEPS} instructions: a loop is too long to unroll")
            handler = getattr(self, step.opname, None)
            if handler is None:
                raise Refuse(f"{step.opname} is not supported")
            handler(step)
        return self.result

    def push(self, value):
        """Push a symbolic value, after a look at what nothing has looked at yet."""
        self.stack.append(self.trace.resolve(value))

    def pop(self):
        """Take the top value off the stack, and return it."""
        return self.stack.pop()

    def pop_many(self, count):
        """Take so many values off the stack; return them in the order in which they were pushed."""
        first = len(self.stack) - count
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def push_callable(self, value, extra):
        """Push a value and what belongs beside it: NULL if a call follows, None for nothing.

        Since 3.13 the NULL is above the callable, before that it is below.
        """
        from_below = (value, extra) if NULL_ABOVE else (extra, value)
        for entry in from_below:
            if entry is not None:
                self.push(entry)

    def nothing(self, step):
        """Do nothing, for an instruction that has no meaning for symbolic values."""

    RESUME = nothing
    NOP = nothing
    CACHE = nothing
    PRECALL = nothing
    EXTENDED_ARG = nothing
    COPY_FREE_VARS = nothing

    def POP_TOP(self, step):
        self.pop()

    def PUSH_NULL(self, step):
        self.stack.append(NULL)

    def COPY(self, step):
        self.stack.append(self.stack[-step.arg])

    def SWAP(self, step):
        self.stack[-1], self.stack[-step.arg] = self.stack[-step.arg], self.stack[-1]

    def LOAD_CONST(self, step):
        self.push(Known(step.value))

    def RETURN_CONST(self, step):
        self.result = Known(step.value)

    def RETURN_VALUE(self, step):
        self.result = self.pop()

    def fast(self, step):
        """Load or store each local of the step: two of them in a fused instruction of 3.13."""
        for kind, name in step.locals:
            if kind == "STORE":
                self.local[name] = self.pop()
            elif name not in self.local:
                raise Refuse(f"{name} is not bound yet")
            else:
                # The looked-at value is stored, so that all uses share it.
                self.local[name] = self.trace.resolve(self.local[name])
                self.push(self.local[name])

    LOAD_FAST = fast
    STORE_FAST = fast
    LOAD_FAST_LOAD_FAST = fast
    STORE_FAST_STORE_FAST = fast
    STORE_FAST_LOAD_FAST = fast

    def LOAD_DEREF(self, step):
        self.push(self.trace.take_cell(self.fn, step.value))

    def LOAD_GLOBAL(self, step):
        value = self.trace.take_global(self.fn, step.value)
        self.push_callable(value, NULL if step.arg & 1 else None)  # the bit: a call follows

    def BINARY_OP(self, step):
        right = self.pop()
        left = self.pop()
        # "+=" of a list or a tensor changes it. Of a known object, `operate` folds only a constant.
        if step.text.endswith("=") and not isinstance(left, Known):
            fn = Known(OPERATORS[step.text])
            raise Break(f"{step.text} may change its left side in place", fn, [left, right])
        self.push(self.operate(step.text, left, right))

    def COMPARE_OP(self, step):
        right = self.pop()
        left = self.pop()
        self.push(self.operate(step.value, left, right))

    def operate(self, sign, left, right):
        """Return the symbolic result of `left sign right`, where `sign` is such as "+" or "<=".

        The learner's `parts.binary_op` decides for tensors and constants. Break where the operator
        has to run for real.
        """
        fn = Known(OPERATORS[sign])
        pair = [left, right]
        if not all(isinstance(operand, Tensor) or is_plain(operand) for operand in pair):
            return call(self.trace, fn, pair, {})
        try:
            return self.trace.parts.binary_op(self.trace, sign, left, right)
        except Break as why:  # it does not say what is to run for real
            raise Break(str(why), fn, pair) from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Break(f"{sign} raises {type(error).__name__}", fn, pair) from None

    def unary(self, step):
        """Replace the top value by what an operator of one value makes of it."""
        value = self.pop()
        self.call_known(UNARY[step.opname], value)

    UNARY_NEGATIVE = unary
    UNARY_POSITIVE = unary
    UNARY_INVERT = unary

    def UNARY_NOT(self, step):
        value = self.pop()
        self.call_known(operator.not_, value)

    def BINARY_SUBSCR(self, step):
        key = self.pop()
        container = self.pop()
        self.call_known(operator.getitem, container, key)

    def call_known(self, function, *args):
        """Push the symbolic result of a call of this function."""
        self.push(call(self.trace, Known(function), list(args), {}))

    def BINARY_SLICE(self, step):
        self.BUILD_SLICE(step)  # this opcode has no argument, which means two ends there
        self.BINARY_SUBSCR(step)

    def BUILD_TUPLE(self, step):
        self.push(Items(tuple, self.pop_many(step.arg)))

    def BUILD_LIST(self, step):
        self.push(Items(list, self.pop_many(step.arg)))

    def LIST_EXTEND(self, step):
        more = self.pop()
        extended = self.stack[-step.arg]
        self.stack[-step.arg] = Items(list, [*extended.items, *iterate(more)])

    def BUILD_SLICE(self, step):
        ends = self.pop_many(3 if step.arg == 3 else 2)  # 3: there is a step as well
        if not all(isinstance(end, Known) and type(end.value) in SCALARS for end in ends):
            raise Refuse("a slice whose ends are not plain numbers")
        self.push(Known(slice(*(end.value for end in ends))))

    def UNPACK_SEQUENCE(self, step):
        sequence = self.pop()
        items = list(iterate(sequence))
        if len(items) != step.arg:
            raise Refuse("a sequence is unpacked into a different number of names")
        for item in reversed(items):  # the first name is stored from the top
            self.push(item)

    def JUMP(self, step):
        self.position = step.target

    def TO_BOOL(self, step):
        if not isinstance(self.stack[-1], Tensor):
            value = self.pop()
            self.push(Known(truth(value)))

    def branch(self, step):
        """Jump if the top value is true, or false, as the opcode says; Break for a tensor."""
        value = self.pop()
        if isinstance(value, Tensor):
            self.condition = value
            raise Break("a branch needs the value of a tensor")
        jumps_if_true = "TRUE" in step.opname
        if truth(value) == jumps_if_true:
            self.position = step.target
            if step.opname.endswith("OR_POP"):  # of `and` and `or` in 3.11: a jump keeps it
                self.stack.append(value)

    POP_JUMP_IF_TRUE = branch
    POP_JUMP_IF_FALSE = branch
    JUMP_IF_TRUE_OR_POP = branch
    JUMP_IF_FALSE_OR_POP = branch

    def branch_on_none(self, step):
        """Jump if the top value is None, or is not, as the opcode says: a tensor never is."""
        value = self.pop()
        is_none = isinstance(value, Known) and value.value is None
        jumps_if_none = "NOT" not in step.opname
        if is_none == jumps_if_none:
            self.position = step.target

    POP_JUMP_IF_NONE = branch_on_none
    POP_JUMP_IF_NOT_NONE = branch_on_none

    def GET_ITER(self, step):
        iterable = self.pop()
        self.stack.append(IteratorVariable(iterate(iterable)))

    def FOR_ITER(self, step):
        iterator = self.stack[-1]
        if not isinstance(iterator, IteratorVariable):
            raise Refuse("a loop over an iterator of someone else's")
        item = next(iterator.items, None)  # None is no symbolic value: the end of the loop
        if item is not None:
            self.push(item)
            return

        self.pop()
        self.position = step.target
        # CPython, too, jumps past the END_FOR at the target: there is no item for it to pop. Since
        # 3.13 a POP_TOP after it pops the iterator, which is off the stack here already.
        steps = self.code.steps
        while steps[self.position].opname == "END_FOR":
            self.position += 1
            if NULL_ABOVE and steps[self.position].opname == "POP_TOP":
                self.position += 1

    def KW_NAMES(self, step):
        self.keywords = self.code.code.co_consts[step.arg]

    def CALL_KW(self, step):
        names = self.pop()
        self.keywords = names.value
        self.CALL(step)

    def CALL(self, step):
        names = self.keywords
        self.keywords = ()  # they are for this call alone
        values = self.pop_many(step.arg)
        # Below the arguments are the callable and a NULL, in the order of this Python's version. A
        # bound method is one `Method` here, so `self` is never in the NULL's place.
        callable_and_null = self.pop_many(2)
        fn = next(value for value in callable_and_null if value is not NULL)

        positional_count = len(values) - len(names)
        kwargs = dict(zip(names, values[positional_count:], strict=True))
        self.push(call(self.trace, fn, values[:positional_count], kwargs))

    def LOAD_ATTR(self, step):
        owner = self.pop()
        is_called_next = step.opname == "LOAD_METHOD"
        if METHODS_BY_BIT and step.arg & 1:
            is_called_next = True
        try:
            value = get_attribute(self.trace, owner, step.value)
        except Break as why:
            # `getattr` runs for real instead; the rest of the frame finds the stack as this
            # instruction would have left it.
            pushes = [RESULT]
            if is_called_next:
                pushes = [RESULT, NULL] if NULL_ABOVE else [NULL, RESULT]
            args = [owner, Known(step.value)]
            raise Break(str(why), Known(getattr), args, pushes=pushes) from None
        self.push_callable(value, NULL if is_called_next else None)

    LOAD_METHOD = LOAD_ATTR
