"""Methods that execute one bytecode instruction each, in seven classes that a learner can replace.

Such a method, a handler, is named for its opcode. Its docstring is its stack effect, before → after
the instruction, with the top of the stack on the right. CPython itself runs the special methods
that an operator, a loop or a truth test calls, such as `__add__`, `__next__` and `__bool__`.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import operator

from .instructions import NULL

# Operator -> the name of its special method, without underscores.
SPECIAL_METHODS = {
    "+": "add",
    "&": "and",
    "//": "floordiv",
    "<<": "lshift",
    "@": "matmul",
    "*": "mul",
    "%": "mod",
    "|": "or",
    "**": "pow",
    ">>": "rshift",
    "-": "sub",
    "/": "truediv",
    "^": "xor",
}
ARITHMETIC = {}  # "+" -> operator.__add__, "+=" -> operator.__iadd__, and so on
for _sign, _method in SPECIAL_METHODS.items():
    ARITHMETIC[_sign] = getattr(operator, f"__{_method}__")
    ARITHMETIC[f"{_sign}="] = getattr(operator, f"__i{_method}__")
COMPARISON = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def pushing(function, takes: int, effect: str):
    """Return a handler that takes `takes` values off the stack, and pushes `function(*values)`.

    `effect` is the handler's docstring.
    """

    def handler(self):
        self.push(function(*self.take(takes)))

    handler.__doc__ = effect
    return handler


def gathering(function, effect: str):
    """Return a handler that takes `count` values off the stack, and pushes `function(values)`.

    `count` is the argument of the instruction. `effect` is the handler's docstring.
    """

    def handler(self, count):
        self.push(function(self.take(count)))

    handler.__doc__ = effect
    return handler


class Constants:
    """Three instructions: enough for `return 5`."""

    def LOAD_CONST(self, value):
        """[] → [value]"""
        self.push(value)

    def POP_TOP(self):
        """[value] → []"""
        self.pop()

    def RETURN_VALUE(self):
        """[value] → the caller's stack"""
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
        """[] → [local]"""
        self.push(self.local[name] if name in self.local else self.value_of(name))

    def STORE_FAST(self, name):
        """[value] → []"""
        self.local[name] = self.pop()

    def DELETE_FAST(self, name):
        """[] → []"""
        self.value_of(name)
        del self.local[name]

    def LOAD_GLOBAL(self, name):
        """[] → [value]"""
        self.push(self.find(name))

    def COPY(self, depth):
        """[value, …] → [value, …, value]: the depth-th from the top, 1 being the top"""
        self.push(self.stack[-depth])

    def SWAP(self, depth):
        """[low, …, top] → [top, …, low]"""
        self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]


class Operators:
    """Arithmetic and comparison."""

    def BINARY_OP(self, sign):
        """[left, right] → [left op right]"""
        right = self.pop()
        left = self.pop()
        self.push(ARITHMETIC[sign](left, right))

    def COMPARE_OP(self, sign):
        """[left, right] → [left op right]"""
        right = self.pop()
        left = self.pop()
        self.push(COMPARISON[sign](left, right))

    def IS_OP(self, inverted):
        """[left, right] → [left is right]"""
        right = self.pop()
        left = self.pop()
        self.push((left is right) != bool(inverted))

    def CONTAINS_OP(self, inverted):
        """[item, container] → [item in container]"""
        container = self.pop()
        item = self.pop()
        self.push((item in container) != bool(inverted))

    UNARY_NEGATIVE = pushing(operator.neg, 1, "[value] → [-value]")
    UNARY_NOT = pushing(operator.not_, 1, "[value] → [not value]")


class Jumps:
    """Conditions and loops."""

    def JUMP(self, target):
        """[] → []"""
        self.jump(target)

    def POP_JUMP_IF_FALSE(self, target):
        """[value] → []"""
        if not self.pop():
            self.jump(target)

    def POP_JUMP_IF_TRUE(self, target):
        """[value] → []"""
        if self.pop():
            self.jump(target)

    def POP_JUMP_IF_NONE(self, target):
        """[value] → []"""
        if self.pop() is None:
            self.jump(target)

    def POP_JUMP_IF_NOT_NONE(self, target):
        """[value] → []"""
        if self.pop() is not None:
            self.jump(target)

    GET_ITER = pushing(iter, 1, "[iterable] → [iterator]")

    def FOR_ITER(self, after):
        """[iterator] → [iterator, item], or [] and jump when there is no next item"""
        item = next(self.stack[-1], NULL)
        if item is NULL:
            self.pop()
            self.jump(after)
        else:
            self.push(item)


class Calls:
    """Calls, attributes, subscripts, and the small containers."""

    def CALL(self, count, names):
        """[function, arguments …] → [value]; the last arguments have these names"""
        values = self.take(count)
        keywords = {}
        if names:
            split = count - len(names)
            keywords = dict(zip(names, values[split:], strict=True))
            del values[split:]
        self.start(self.pop(), values, keywords)

    def LOAD_ATTR(self, name):
        """[object] → [attribute]"""
        self.push(getattr(self.pop(), name))

    BINARY_SUBSCR = pushing(operator.getitem, 2, "[container, key] → [container[key]]")
    BUILD_LIST = gathering(list, "[first, …, last] → [list]")
    BUILD_TUPLE = gathering(tuple, "[first, …, last] → [tuple]")


class Closures:
    """Functions made while running, and the cells they share."""

    def content_of_cell(self, name):
        """Return what a cell holds, or raise what CPython raises for an empty one."""
        cell = self.cells[name]
        try:
            return cell.cell_contents
        except ValueError:
            pass  # Raised below, where no other error is handled that would become its context.
        if name not in self.code.co_freevars:
            raise UnboundLocalError(
                f"cannot access local variable '{name}' where it is not associated with a value"
            )
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value "
            "in enclosing scope",
            name=name,
        )

    def MAKE_FUNCTION(self, *parts):
        """[the attributes that the parts name …, code] → [function]"""
        code = self.pop()
        attributes = {part: self.pop() for part in reversed(parts)}
        self.push(self.function(code, **attributes))

    def LOAD_CLOSURE(self, name):
        """[] → [cell]"""
        self.push(self.cells[name])

    def LOAD_DEREF(self, name):
        """[] → [what the cell holds]"""
        self.push(self.content_of_cell(name))

    def STORE_DEREF(self, name):
        """[value] → []"""
        self.cells[name].cell_contents = self.pop()


class Exceptions:
    """raise, except, finally. The loop finds the handler; these run it."""

    def RAISE_VARARGS(self, count):
        """[] or [exception] or [exception, cause] → raises"""
        if count == 0:  # `raise`
            error = self.handled
            if error is None:
                raise RuntimeError("No active exception to reraise")
            raise error
        if count == 1:  # `raise error`
            raise _raised_exception(self, self.pop())
        cause = self.pop()  # `raise error from cause`
        error = _raised_exception(self, self.pop())
        raise error from _make_exception(self, cause)

    def PUSH_EXC_INFO(self):
        """[exception] → [what was handled before, exception]: from here on, this one is handled"""
        error = self.pop()
        self.push(self.handled)  # POP_EXCEPT sets it again at the end of the `except`
        self.push(error)
        self.handled = error

    def CHECK_EXC_MATCH(self):
        """[exception, class or tuple of classes] → [exception, does it match]"""
        wanted = self.pop()
        refuse_uncatchable(wanted)
        self.push(isinstance(self.stack[-1], wanted))

    def POP_EXCEPT(self):
        """[what was handled before] → []"""
        self.handled = self.pop()

    def RERAISE(self, _):
        """[exception] → raises it again"""
        raise self.pop()


def _make_exception(frame, value):
    """Return what `raise value` raises: an instance if `value` is an exception class, else `value`.

    The class is called without arguments, in the machine.
    """
    if isinstance(value, type) and issubclass(value, BaseException):
        return frame.call(value)
    return value


def _raised_exception(frame, value):
    """Return the exception that `raise value` raises, with its `__context__` set.

    The context is the exception that an `except` block handles now, if there is one.
    """
    error = _make_exception(frame, value)
    handled = frame.handled
    if isinstance(error, BaseException) and handled is not None and error is not handled:
        set_context(error, handled)
    return error


def set_context(error: BaseException, handled: BaseException):
    """Set `error.__context__` to the exception that is being handled, as CPython's `raise` does.

    If `error` is itself in the chain of contexts of `handled`, the chain is cut before it, so that
    there is no circle. Mirrors `_PyErr_SetObject` of CPython's `Python/errors.c`.
    """
    for context in list_contexts(handled):
        if context.__context__ is error:
            context.__context__ = None
    error.__context__ = handled


def list_contexts(error: BaseException | None) -> list[BaseException]:
    """Return an exception, its `__context__`, the context of that, and so on, each once."""
    errors = []
    while error is not None and not any(error is listed for listed in errors):
        errors.append(error)
        error = error.__context__
    return errors


def refuse_uncatchable(wanted):
    """Raise TypeError if `wanted` is no exception class and no tuple of such classes."""
    classes = wanted if isinstance(wanted, tuple) else (wanted,)
    for cls in classes:
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )


STEPS = (Constants, Names, Operators, Jumps, Calls, Closures, Exceptions)
