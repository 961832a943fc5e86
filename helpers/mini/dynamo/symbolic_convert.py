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
    """One frame of `fn`. `local` holds symbolic values by name, `stack` the symbolic stack."""

    def __init__(self, trace, fn, local: dict):
        self.trace = trace
        self.fn = fn
        self.code = Code(fn.__code__)
        self.local = local
        self.stack = []
        self.position = 0  # of the next step
        self.step_count = 0
        self.keywords = ()  # what KW_NAMES says of the next call
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
        self.stack.append(self.trace.resolve(value))

    def pop(self):
        return self.stack.pop()

    def pop_many(self, count):
        first = len(self.stack) - count
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def push_callable(self, value, extra):
        """Push a callable and what belongs beside it; 3.13 exchanged the two."""
        pair = (value, extra) if NULL_ABOVE else (extra, value)
        for part in pair:
            if part is not None:
                self.push(part)

    def nothing(self, step):
        pass

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
        for kind, name in step.locals:
            if kind == "STORE":
                self.local[name] = self.pop()
            elif name not in self.local:
                raise Refuse(f"{name} is not bound yet")
            else:
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
        self.push_callable(value, NULL if step.arg & 1 else None)

    def BINARY_OP(self, step):
        right = self.pop()
        left = self.pop()
        if step.text.endswith("=") and not isinstance(left, Known):
            fn = Known(OPERATORS[step.text])
            raise Break(f"{step.text} may change its left side in place", fn, [left, right])
        self.push(self.operate(step.text, left, right))

    def COMPARE_OP(self, step):
        right = self.pop()
        left = self.pop()
        self.push(self.operate(step.value, left, right))

    def operate(self, sign, left, right):
        """Return the result of an operator; `parts.binary_op` decides for tensors and scalars."""
        fn = Known(OPERATORS[sign])
        pair = [left, right]
        if not all(isinstance(side, Tensor) or is_plain(side) for side in pair):
            return call(self.trace, fn, pair, {})
        try:
            return self.trace.parts.binary_op(self.trace, sign, left, right)
        except Break as why:
            raise Break(str(why), fn, pair) from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Break(f"{sign} raises {type(error).__name__}", fn, pair) from None

    def unary(self, step):
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
        self.BUILD_SLICE(step)
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
        ends = self.pop_many(3 if step.arg == 3 else 2)
        if not all(isinstance(end, Known) and type(end.value) in SCALARS for end in ends):
            raise Refuse("a slice whose ends are not plain numbers")
        self.push(Known(slice(*(end.value for end in ends))))

    def UNPACK_SEQUENCE(self, step):
        sequence = self.pop()
        items = list(iterate(sequence))
        if len(items) != step.arg:
            raise Refuse("a sequence is unpacked into a different number of names")
        for item in reversed(items):
            self.push(item)

    def JUMP(self, step):
        self.position = step.target

    def TO_BOOL(self, step):
        if not isinstance(self.stack[-1], Tensor):
            value = self.pop()
            self.push(Known(truth(value)))

    def branch(self, step):
        value = self.pop()
        if isinstance(value, Tensor):
            self.condition = value
            raise Break("a branch needs the value of a tensor")
        jumps_if_true = "TRUE" in step.opname
        if truth(value) == jumps_if_true:
            self.position = step.target
            if step.opname.endswith("OR_POP"):
                self.stack.append(value)

    POP_JUMP_IF_TRUE = branch
    POP_JUMP_IF_FALSE = branch
    JUMP_IF_TRUE_OR_POP = branch
    JUMP_IF_FALSE_OR_POP = branch

    def branch_on_none(self, step):
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
        item = next(iterator.items, None)
        if item is not None:
            self.push(item)
            return

        self.pop()
        self.position = step.target
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
        self.keywords = ()
        values = self.pop_many(step.arg)
        pair = self.pop_many(2)
        fn = next(part for part in pair if part is not NULL)

        split = len(values) - len(names)
        kwargs = dict(zip(names, values[split:], strict=True))
        self.push(call(self.trace, fn, values[:split], kwargs))

    def LOAD_ATTR(self, step):
        owner = self.pop()
        is_method = step.opname == "LOAD_METHOD"
        if METHODS_BY_BIT and step.arg & 1:
            is_method = True
        try:
            value = get_attribute(self.trace, owner, step.value)
        except Break as why:
            pushes = [RESULT]
            if is_method:
                pushes = [RESULT, NULL] if NULL_ABOVE else [NULL, RESULT]
            args = [owner, Known(step.value)]
            raise Break(str(why), Known(getattr), args, pushes=pushes) from None
        self.push_callable(value, NULL if is_method else None)

    LOAD_METHOD = LOAD_ATTR
