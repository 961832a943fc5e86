"""Finished handlers, step by step: what a learner's own class can take the place of."""

import operator

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

ARITHMETIC = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul},
    **{"<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_},
    **{"^": operator.xor, "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul},
    **{"/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod},
    **{"**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift},
    **{">>=": operator.irshift, "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor},
}
COMPARISON = {
    **{"<": operator.lt, "<=": operator.le, "==": operator.eq},
    **{"!=": operator.ne, ">": operator.gt, ">=": operator.ge},
}


class Constants:
    """Three instructions: enough for `return 5`."""

    def LOAD_CONST(self, value):
        self.push(value)

    def POP_TOP(self):
        self.pop()

    def RETURN_VALUE(self):
        self.leave(self.pop())


class Names:
    """Local and global names, and two moves on the stack."""

    def value_of(self, name):
        """Return a local's value, or raise what CPython raises for an unbound name."""
        if name not in self.local:
            raise UnboundLocalError(
                f"cannot access local variable '{name}' where it is not associated with a value"
            )
        return self.local[name]

    def LOAD_FAST(self, name):
        self.push(self.value_of(name))

    def STORE_FAST(self, name):
        self.local[name] = self.pop()

    def DELETE_FAST(self, name):
        self.value_of(name)
        del self.local[name]

    def LOAD_GLOBAL(self, name):
        self.push(self.find(name))

    def COPY(self, depth):
        self.push(self.stack[-depth])

    def SWAP(self, depth):
        self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]


class Operators:
    """Arithmetic and comparison."""

    def BINARY_OP(self, sign):
        right, left = self.pop(), self.pop()
        self.push(ARITHMETIC[sign](left, right))

    def COMPARE_OP(self, sign):
        right, left = self.pop(), self.pop()
        self.push(COMPARISON[sign](left, right))

    def IS_OP(self, inverted):
        right, left = self.pop(), self.pop()
        self.push((left is right) != bool(inverted))

    def CONTAINS_OP(self, inverted):
        container, item = self.pop(), self.pop()
        self.push((item in container) != bool(inverted))

    def UNARY_NEGATIVE(self):
        self.push(-self.pop())

    def UNARY_NOT(self):
        self.push(not self.pop())


class Jumps:
    """Conditions and loops."""

    def JUMP(self, target):
        self.jump(target)

    def POP_JUMP_IF_FALSE(self, target):
        if not self.pop():
            self.jump(target)

    def POP_JUMP_IF_TRUE(self, target):
        if self.pop():
            self.jump(target)

    def POP_JUMP_IF_NONE(self, target):
        if self.pop() is None:
            self.jump(target)

    def POP_JUMP_IF_NOT_NONE(self, target):
        if self.pop() is not None:
            self.jump(target)

    def GET_ITER(self):
        self.push(iter(self.pop()))

    def FOR_ITER(self, after):
        try:
            self.push(next(self.stack[-1]))
        except StopIteration:
            self.pop()
            self.jump(after)


class Calls:
    """Calls, attributes, subscripts, and the small containers."""

    def CALL(self, count, names):
        values = [self.pop() for _ in range(count)][::-1]
        fn = self.pop()
        split = count - len(names)
        keywords = dict(zip(names, values[split:], strict=True))
        self.push(self.call(fn, *values[:split], **keywords))

    def LOAD_ATTR(self, name):
        self.push(getattr(self.pop(), name))

    def BINARY_SUBSCR(self):
        key, container = self.pop(), self.pop()
        self.push(container[key])

    def BUILD_LIST(self, count):
        self.push([self.pop() for _ in range(count)][::-1])

    def BUILD_TUPLE(self, count):
        self.push(tuple([self.pop() for _ in range(count)][::-1]))


class Closures:
    """Functions made while running, and the cells they share."""

    def MAKE_FUNCTION(self, *parts):
        code = self.pop()
        given = {part: self.pop() for part in reversed(parts)}
        self.push(self.function(code, **given))

    def LOAD_CLOSURE(self, name):
        self.push(self.cells[name])

    def LOAD_DEREF(self, name):
        self.push(self.cells[name].cell_contents)

    def STORE_DEREF(self, name):
        self.cells[name].cell_contents = self.pop()


class Exceptions:
    """raise, except, finally. The loop finds the handler; these run it."""

    def RAISE_VARARGS(self, count):
        cause = [self.pop()] if count == 2 else []
        error = self.pop() if count else self.handled
        if error is None:
            raise RuntimeError("No active exception to reraise")
        if cause:
            raise error from cause[0]
        raise error

    def PUSH_EXC_INFO(self):
        error = self.pop()
        self.push(self.handled)
        self.push(error)
        self.handled = error

    def CHECK_EXC_MATCH(self):
        wanted = self.pop()
        self.push(isinstance(self.stack[-1], wanted))

    def POP_EXCEPT(self):
        self.handled = self.pop()

    def RERAISE(self, _):
        raise self.pop()


STEPS = (Constants, Names, Operators, Jumps, Calls, Closures, Exceptions)


def opcodes(step: type) -> frozenset[str]:
    """Return the opcodes that a class of handlers has methods for, inherited ones too."""
    return frozenset(name for name in dir(step) if name.isupper() and callable(getattr(step, name)))
