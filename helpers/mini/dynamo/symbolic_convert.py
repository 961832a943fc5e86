"""The symbolic interpreter: bytecode runs on symbolic values. A handler is named for its opcode.

Mirrors torch/_dynamo/symbolic_convert.py, class InstructionTranslatorBase.
"""

import operator

from helpers.mini.dynamo.call_function import Calls, is_plain
from helpers.mini.dynamo.parts import OPERATORS, UNARY
from helpers.mini.dynamo.resume_execution import Code
from helpers.mini.dynamo.symbolic_values import (
    NULL,
    RESULT,
    SCALARS,
    Break,
    Items,
    Known,
    Loop,
    Refuse,
    Tensor,
)
from helpers.mini.versions import METHODS_BY_BIT, NULL_ABOVE

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

MOST_STEPS = 20_000


class Interpreter(Calls):
    """One frame of `fn`. `local` holds symbolic values by name, `stack` the symbolic stack."""

    def __init__(self, trace, fn, local: dict):
        self.trace, self.fn, self.local, self.code = trace, fn, local, Code(fn.__code__)
        self.stack, self.position, self.keywords, self.result, self.ran = [], 0, (), None, 0

    def run(self):
        """Return the symbolic result; Break or Refuse where it does not go on."""
        while self.result is None:
            step = self.code.steps[self.position]
            self.position += 1
            self.ran += 1
            if self.ran > MOST_STEPS:
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
        kept = len(self.stack) - count
        values, self.stack[kept:] = self.stack[kept:], []
        return values

    def push_callable(self, value, extra):
        """Push a callable and what belongs beside it; 3.13 exchanged the two."""
        pair = (value, extra) if NULL_ABOVE else (extra, value)
        self.stack += [self.trace.resolve(part) for part in pair if part is not None]

    def nothing(self, step):
        pass

    RESUME = NOP = CACHE = PRECALL = EXTENDED_ARG = COPY_FREE_VARS = nothing

    # --- the stack, names

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

    LOAD_FAST = STORE_FAST = fast
    LOAD_FAST_LOAD_FAST = STORE_FAST_STORE_FAST = STORE_FAST_LOAD_FAST = fast

    def LOAD_DEREF(self, step):
        self.push(self.trace.take_cell(self.fn, step.value))

    def LOAD_GLOBAL(self, step):
        value = self.trace.take_global(self.fn, step.value)
        self.push_callable(value, NULL if step.arg & 1 else None)

    # --- operators

    def BINARY_OP(self, step):
        right, left = self.pop(), self.pop()
        if step.text.endswith("=") and not isinstance(left, Known):
            fn = Known(OPERATORS[step.text])
            raise Break(f"{step.text} may change its left side in place", fn, [left, right])
        self.push(self.operate(step.text, left, right))

    def COMPARE_OP(self, step):
        right, left = self.pop(), self.pop()
        self.push(self.operate(step.value, left, right))

    def operate(self, sign, left, right):
        """Return the result of an operator; `parts.binary_op` decides for tensors and scalars."""
        fn, pair = Known(OPERATORS[sign]), [left, right]
        if any(isinstance(side, Items) for side in pair):
            return self.call(fn, pair, {})
        try:
            if not all(isinstance(side, Tensor) or is_plain(side) for side in pair):
                raise Break(f"{sign} of an object that may do anything")
            return self.trace.parts.binary_op(self.trace, sign, left, right)
        except Break as why:
            raise Break(str(why), fn, pair) from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Break(f"{sign} raises {type(error).__name__}", fn, pair) from None

    def unary(self, step):
        value, fn = self.pop(), Known(UNARY[step.opname])
        self.push(self.call(fn, [value], {}))

    UNARY_NEGATIVE = UNARY_POSITIVE = UNARY_INVERT = unary

    def UNARY_NOT(self, step):
        value = self.pop()
        if isinstance(value, Tensor):
            raise Break("`not` needs the value of a tensor", Known(operator.not_), [value])
        self.push(Known(not self.truth(value)))

    def BINARY_SUBSCR(self, step):
        key, container = self.pop(), self.pop()
        self.push(self.call(Known(operator.getitem), [container, key], {}))

    def BINARY_SLICE(self, step):
        self.BUILD_SLICE(step)
        self.BINARY_SUBSCR(step)

    # --- small containers

    def BUILD_TUPLE(self, step):
        self.push(Items(tuple, self.pop_many(step.arg)))

    def BUILD_LIST(self, step):
        self.push(Items(list, self.pop_many(step.arg)))

    def LIST_EXTEND(self, step):
        more, made = self.pop(), self.stack[-step.arg]
        self.stack[-step.arg] = Items(list, [*made.items, *self.iterate(more)])

    def BUILD_SLICE(self, step):
        ends = self.pop_many(3 if step.arg == 3 else 2)
        if not all(isinstance(end, Known) and type(end.value) in SCALARS for end in ends):
            raise Refuse("a slice whose ends are not plain numbers")
        self.push(Known(slice(*(end.value for end in ends))))

    def UNPACK_SEQUENCE(self, step):
        items = list(self.iterate(self.pop()))
        if len(items) != step.arg:
            raise Refuse("a sequence is taken apart into another number of names")
        for item in reversed(items):
            self.push(item)

    # --- jumps and loops

    def JUMP(self, step):
        self.position = step.target

    def TO_BOOL(self, step):
        if not isinstance(self.stack[-1], Tensor):
            self.push(Known(self.truth(self.pop())))

    def branch(self, step):
        value, keeps = self.pop(), step.opname.endswith("OR_POP")
        if isinstance(value, Tensor):
            self.condition = value
            raise Break("a branch needs the value of a tensor")
        if self.truth(value) == ("TRUE" in step.opname):
            self.position = step.target
            self.stack += [value] * keeps

    POP_JUMP_IF_TRUE = POP_JUMP_IF_FALSE = branch
    JUMP_IF_TRUE_OR_POP = JUMP_IF_FALSE_OR_POP = branch

    def branch_on_none(self, step):
        value = self.pop()
        if (isinstance(value, Known) and value.value is None) != ("NOT" in step.opname):
            self.position = step.target

    POP_JUMP_IF_NONE = POP_JUMP_IF_NOT_NONE = branch_on_none

    def GET_ITER(self, step):
        self.stack.append(Loop(self.iterate(self.pop())))

    def FOR_ITER(self, step):
        if not isinstance(self.stack[-1], Loop):
            raise Refuse("a loop over an iterator of someone else's")
        item = next(self.stack[-1].items, None)
        if item is not None:
            return self.push(item)
        self.pop()
        self.position = step.target
        steps = self.code.steps
        while steps[self.position].opname == "END_FOR":
            self.position += 1
            if NULL_ABOVE and steps[self.position].opname == "POP_TOP":
                self.position += 1

    # --- calls

    def KW_NAMES(self, step):
        self.keywords = self.code.code.co_consts[step.arg]

    def CALL_KW(self, step):
        self.keywords = self.pop().value
        self.CALL(step)

    def CALL(self, step):
        names, self.keywords = self.keywords, ()
        values, pair = self.pop_many(step.arg), self.pop_many(2)
        fn = next(part for part in pair if part is not NULL)
        split = len(values) - len(names)
        named = dict(zip(names, values[split:], strict=True))
        self.push(self.call(fn, values[:split], named))

    def attribute(self, step, pushes, beside):
        owner = self.pop()
        try:
            value = self.get_attribute(owner, step.value)
        except Break as why:
            fn, args = Known(getattr), [owner, Known(step.value)]
            raise Break(str(why), fn, args, pushes=pushes) from None
        self.push_callable(value, beside)

    def LOAD_METHOD(self, step):
        self.attribute(step, [NULL, RESULT], NULL)

    def LOAD_ATTR(self, step):
        if not METHODS_BY_BIT or not step.arg & 1:
            return self.attribute(step, [RESULT], None)
        return self.attribute(step, [RESULT, NULL] if NULL_ABOVE else [NULL, RESULT], NULL)
