"""The symbolic interpreter: bytecode runs on symbolic values. A handler is named for its opcode.

Mirrors torch/_dynamo/symbolic_convert.py, class InstructionTranslatorBase.
"""

import operator

import torch

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
    Method,
    Refuse,
    Tensor,
    is_immutable,
)
from helpers.mini.versions import METHODS_BY_BIT, NULL_ABOVE

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

MOST_STEPS = 20_000


class Interpreter(Calls):
    """One frame. `local` holds symbolic values by name, `stack` the symbolic stack."""

    def __init__(self, trace, code: Code, local: dict, spaces, position: int = 0, depth: int = 0):
        self.trace, self.code, self.local, self.depth = trace, code, local, depth
        self.spaces = spaces
        self.stack, self.position, self.keywords, self.result = [], position, (), None

    def run(self):
        """Return the symbolic result; Break or Refuse where it does not go on."""
        while self.result is None:
            step = self.code.steps[self.position]
            self.position += 1
            self.trace.steps += 1
            if self.trace.steps > MOST_STEPS:
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

    def LOAD_FAST(self, step):
        self.load(step.value)

    def load(self, name):
        if name not in self.local:
            raise Refuse(f"{name} is not bound yet")
        self.local[name] = self.trace.resolve(self.local[name])
        self.push(self.local[name])

    def LOAD_FAST_LOAD_FAST(self, step):
        for name in step.value:
            self.load(name)

    def STORE_FAST(self, step):
        self.local[step.value] = self.pop()

    def STORE_FAST_STORE_FAST(self, step):
        for name in step.value:
            self.local[name] = self.pop()

    def STORE_FAST_LOAD_FAST(self, step):
        self.local[step.value[0]] = self.pop()
        self.load(step.value[1])

    def DELETE_FAST(self, step):
        if self.local.pop(step.value, None) is None:
            raise Refuse(f"{step.value} is not bound yet")

    def LOAD_DEREF(self, step):
        self.push(self.spaces.cell(self.trace, step.value))

    def LOAD_GLOBAL(self, step):
        value = self.spaces.find(self.trace, step.value)
        self.push_callable(value, NULL if step.arg & 1 else None)

    # --- operators

    def BINARY_OP(self, step):
        right, left = self.pop(), self.pop()
        self.push(self.operate(step.text, left, right))

    def COMPARE_OP(self, step):
        right, left = self.pop(), self.pop()
        self.push(self.operate(step.value, left, right))

    def operate(self, sign, left, right):
        """Return the result of an operator; `parts.binary_op` decides for tensors and scalars."""
        fn = Known(OPERATORS[sign])
        in_place = sign in ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=")
        if in_place and not isinstance(left, Known):
            raise Break(f"{sign} may change its left side in place", fn, [left, right])
        simple = (Tensor, Known)
        if not isinstance(left, simple) or not isinstance(right, simple):
            return self.call(fn, [left, right], {})
        for value in (left, right):
            if isinstance(value, Known) and not is_immutable(value.value):
                raise Break(f"{sign} of an object that may do anything", fn, [left, right])
        try:
            return self.trace.parts.binary_op(self.trace, sign, left, right)
        except Break as why:
            raise Break(str(why), fn, [left, right]) from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Break(f"{sign} raises {type(error).__name__}", fn, [left, right]) from None

    def IS_OP(self, step):
        right, left = self.pop(), self.pop()
        if isinstance(left, Tensor) and isinstance(right, Tensor) and left is not right:
            fn = operator.is_not if step.arg else operator.is_
            raise Break("whether two tensors are one object", Known(fn), [left, right])
        self.push(Known(_identical(left, right) != bool(step.arg)))

    def CONTAINS_OP(self, step):
        container, item = self.pop(), self.pop()
        if not is_plain(container) or not is_plain(item) or item.value != item.value:
            raise Refuse("`in` on what is not a plain constant")
        try:
            self.push(Known((item.value in container.value) != bool(step.arg)))
        except TypeError:
            raise Refuse("`in` raises TypeError") from None

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
        container, *ends = self.pop_many(3)
        self.push(self.call(Known(operator.getitem), [container, self.slice_of(ends)], {}))

    # --- small containers

    def BUILD_TUPLE(self, step):
        self.push(self.tuple_of(self.pop_many(step.arg)))

    def BUILD_LIST(self, step):
        self.push(Items(list, self.pop_many(step.arg)))

    def LIST_EXTEND(self, step):
        more, made = self.pop(), self.stack[-step.arg]
        if not isinstance(made, Items) or made.source or not isinstance(more, (Items, Known)):
            raise Refuse("a list is extended")
        self.stack[-step.arg] = Items(list, [*made.items, *self.items(more)])

    def BUILD_SLICE(self, step):
        self.push(self.slice_of(self.pop_many(step.arg)))

    def slice_of(self, ends):
        if not all(isinstance(end, Known) and type(end.value) in SCALARS for end in ends):
            raise Refuse("a slice whose ends are not plain numbers")
        return Known(slice(*(end.value for end in ends)))

    def UNPACK_SEQUENCE(self, step):
        value = self.pop()
        if not isinstance(value, (Items, Known)):
            raise Refuse("a tensor is taken apart")
        items = self.items(value)
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
        value, wanted = self.pop(), "TRUE" in step.opname
        keeps = step.opname.endswith("OR_POP")
        if isinstance(value, Tensor):
            self.condition = value
            raise Break("a branch needs the value of a tensor")
        jumps = self.truth(value) == wanted
        if jumps:
            self.position = step.target
        self.stack += [value] * (keeps and jumps)

    POP_JUMP_IF_TRUE = POP_JUMP_IF_FALSE = branch
    JUMP_IF_TRUE_OR_POP = JUMP_IF_FALSE_OR_POP = branch

    def POP_JUMP_IF_NONE(self, step):
        if _identical(self.pop(), Known(None)):
            self.position = step.target

    def POP_JUMP_IF_NOT_NONE(self, step):
        if not _identical(self.pop(), Known(None)):
            self.position = step.target

    def GET_ITER(self, step):
        value = self.pop()
        self.stack.append(value if isinstance(value, Loop) else Loop(self.items(value)))

    def FOR_ITER(self, step):
        loop = self.stack[-1]
        if not isinstance(loop, Loop):
            raise Refuse("a loop over an iterator of someone else's")
        if loop.items:
            return self.push(loop.items.pop(0))
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
        values, (low, high) = self.pop_many(step.arg), self.pop_many(2)
        if NULL_ABOVE:
            fn, first = low, high
        else:
            fn, first = (high, NULL) if low is NULL else (low, high)
        if first is not NULL:
            raise Refuse("a call with a layout that is not known")
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


def _identical(left, right) -> bool:
    """Return whether two symbolic values are the same object; Refuse where that is not sure."""
    if left is right and not isinstance(left, Method):
        return True
    known = [value.value for value in (left, right) if isinstance(value, Known)]
    singleton = any(value is None or type(value) is bool for value in known)
    singleton = singleton or any(type(value) is torch.dtype for value in known)
    if len(known) == 2 and (singleton or not any(map(is_immutable, known))):
        return known[0] is known[1]
    if len(known) == 1 and (singleton or isinstance(left, Tensor) or isinstance(right, Tensor)):
        return False
    raise Refuse("`is` of two objects that are only known by their values")
