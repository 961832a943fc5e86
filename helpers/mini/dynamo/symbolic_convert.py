"""The symbolic interpreter: bytecode runs on symbolic values. A handler is named for its opcode.

Mirrors torch/_dynamo/symbolic_convert.py, class InstructionTranslatorBase, and call_function and
var_getattr of torch/_dynamo/variables/.
"""

import operator
from types import ModuleType

import torch

from ..versions import METHODS_BY_BIT, NULL_ABOVE
from . import trace_rules
from .builder import own_name
from .parts import OPERATORS, UNARY
from .resume_execution import Code
from .symbolic_values import (
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

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

MOST_STEPS = 20_000


def is_plain(value) -> bool:
    """Return whether a symbolic value is a constant that can never change."""
    return isinstance(value, Known) and is_immutable(value.value)


class Interpreter:
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
        if not all(isinstance(side, Tensor) or is_plain(side) for side in pair):
            return self.call(fn, pair, {})
        try:
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
        self.push(self.call(Known(operator.not_), [self.pop()], {}))

    def BINARY_SUBSCR(self, step):
        key, container = self.pop(), self.pop()
        self.push(self.call(Known(operator.getitem), [container, key], {}))

    def BINARY_SLICE(self, step):
        self.BUILD_SLICE(step)
        self.BINARY_SUBSCR(step)

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
            raise Refuse("a sequence is unpacked into a different number of names")
        for item in reversed(items):
            self.push(item)

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

    def LOAD_ATTR(self, step):
        owner = self.pop()
        method = step.opname == "LOAD_METHOD" or METHODS_BY_BIT and step.arg & 1
        try:
            value = self.get_attribute(owner, step.value)
        except Break as why:
            pushes = [RESULT, *[NULL] * bool(method)]
            fn, args = Known(getattr), [owner, Known(step.value)]
            raise Break(str(why), fn, args, pushes=pushes[:: 1 if NULL_ABOVE else -1]) from None
        self.push_callable(value, NULL if method else None)

    LOAD_METHOD = LOAD_ATTR

    # --- what a call or an attribute does: compute it, record it, or break

    def call(self, fn, args: list, kwargs: dict):
        """Return the symbolic result of a call. Break says what is to run for real instead."""
        resolve = self.trace.resolve
        args = [resolve(a) for a in args]
        kwargs = {name: resolve(value) for name, value in kwargs.items()}
        try:
            return self._call(fn, args, kwargs)
        except Break as why:
            raise Break(str(why), fn, args, kwargs) from None

    def _call(self, fn, args, kwargs):
        if isinstance(fn, Method):
            return self._call_method(fn, args, kwargs)
        if not isinstance(fn, Known):
            raise Break("the called object is not known")
        f = fn.value
        if any(f is reader for reader in trace_rules.FRAME_READERS):
            raise Refuse(f"{own_name(f)} looks at the frame that calls it")
        owner = args[0] if args else None
        if f is len and len(args) == 1 and isinstance(owner, Items):
            return Known(len(owner.items))
        if f is len and len(args) == 1 and isinstance(owner, Tensor) and owner.fake.dim():
            return Known(len(owner.fake))
        if f is operator.getitem and isinstance(owner, Items) and is_plain(args[1]):
            return self._item(owner, args[1].value)
        if id(f) in trace_rules.FOLDED and all(map(is_plain, (*args, *kwargs.values()))):
            return self._fold(f, args, kwargs)
        if id(f) in trace_rules.TORCH:
            pythons = getattr(f, "__module__", "") in ("_operator", "builtins")
            if not pythons or any(isinstance(a, Tensor) for a in args):
                return self.trace.record(f, *args, **kwargs)
        named = own_name(f) or f"a {type(f).__name__}"
        raise Break(f"{named} is not a function that a graph can contain")

    def _fold(self, f, args, kwargs):
        try:
            result = f(*(a.value for a in args), **{k: v.value for k, v in kwargs.items()})
        except Exception as error:
            raise Break(f"{own_name(f) or 'it'} raises {type(error).__name__}") from None
        if not is_immutable(result):
            raise Break(f"{own_name(f) or 'it'} returns a value that may change")
        return Known(result)

    def _call_method(self, method, args, kwargs):
        owner, name = self.trace.resolve(method.owner), method.name
        plain = all(map(is_plain, (*args, *kwargs.values())))
        if isinstance(owner, Tensor):
            if name in trace_rules.ABOUT and plain and not kwargs:
                return Known(getattr(owner.fake, name)(*(a.value for a in args)))
            if name in trace_rules.TENSOR_METHODS:
                return self.trace.record(name, owner, *args, **kwargs)
        elif is_plain(owner) and plain:
            return self._fold(getattr(owner.value, name), args, kwargs)
        raise Break(f".{name} is not a method that a graph can contain")

    def get_attribute(self, owner, name: str):
        """Return the symbolic value of an attribute; Break where looking it up runs code."""
        if isinstance(owner, Tensor) and name in trace_rules.ALIASES:
            return self.trace.record(getattr, owner, Known(name))
        if isinstance(owner, Tensor) and name in trace_rules.ATTRIBUTES:
            return Known(getattr(owner.fake, name))
        kind = torch.Tensor if isinstance(owner, Tensor) else getattr(owner, "kind", None)
        if callable(getattr(kind, name, None)):  # of a tensor, a tuple or a list
            return Method(owner, name)
        if not isinstance(owner, Known):
            raise Break(f".{name} of an unknown object")
        if is_immutable(owner.value):
            value = getattr(owner.value, name)
            return Known(value) if is_immutable(value) else Method(owner, name)
        if type(owner.value) is not ModuleType or name not in vars(owner.value):
            raise Break(f"looking up .{name} may run any code")
        return self.trace.take(vars(owner.value)[name], f"{owner.source}.{name}")

    def truth(self, value) -> bool:
        """Return bool(value) of a value that is not a tensor; Refuse if that runs unknown code."""
        if isinstance(value, Items):
            return bool(value.items)
        if not is_plain(value):
            raise Refuse("the truth value of an object whose own code may decide it")
        return bool(value.value)

    def iterate(self, value):
        """Return an iterator over the items of what can be unrolled; Refuse for the rest."""
        if isinstance(value, Items):
            return iter(value.items)
        if is_plain(value) and hasattr(value.value, "__iter__"):
            return map(Known, value.value)
        raise Refuse("a loop over an object that is not a tuple, a list or a range")

    def _item(self, container, key):
        try:
            found = container.items[key]
        except (IndexError, TypeError) as error:
            raise Break(f"the item raises {type(error).__name__}") from None
        return Items(container.kind, found) if isinstance(key, slice) else self.trace.resolve(found)
