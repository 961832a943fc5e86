"""Methods that execute one bytecode instruction each: those that a learner does not have to write.

Such a method, a handler, is named for its opcode. Its docstring is its stack effect, before → after
the instruction, with the top of the stack on the right. Some handlers have CPython run the one
instruction, by `native`. So CPython's own error is raised if something is wrong.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import dis
import inspect
import operator
import sys
from functools import cache
from types import CellType

from .generator_object import generator_of
from .instructions import NULL, Unsupported
from .steps import gathering, pushing, refuse_uncatchable

# An opcode of its own until 3.11, then an intrinsic.
if sys.version_info < (3, 12):
    PREP_STAR = ("PREP_RERAISE_STAR", 0)
else:
    PREP_STAR = ("CALL_INTRINSIC_2", 1)
CONVERSIONS = (lambda value: value, str, repr, ascii)  # by number: {x}, {x!s}, {x!r}, {x!a}


@cache
def native(opname: str, number: int, takes: int, gives: int | None = None, name=""):
    """Return a function whose body is one instruction of CPython's, made of bytecode.

    Parameters
    ----------
    opname, number
        The instruction and its argument.
    takes
        How many arguments the function has. They are on the stack when the instruction runs.
    gives
        How many values from the top of the stack the function returns then, as a tuple. If it is
        None, the function returns the top value itself.
    name
        For an instruction whose argument is a name, that name.
    """
    steps = [("RESUME", 0)]  # (opcode, argument) of each instruction
    steps += [("LOAD_FAST", slot) for slot in range(takes)]
    if number > 255:  # an argument has one byte, and EXTENDED_ARG has the higher one
        steps.append(("EXTENDED_ARG", number >> 8))
    steps.append((opname, number & 255))
    if opname == "UNPACK_SEQUENCE":
        steps.append(("CACHE", 0))  # CPython expects an inline cache behind this instruction
    if gives is not None:
        steps.append(("BUILD_TUPLE", gives))
    steps.append(("RETURN_VALUE", 0))

    body = bytearray()
    for step, argument in steps:
        body += bytes((dis.opmap[step], argument))

    parameters = ", ".join(f"a{n}" for n in range(takes))
    # A function with the right number of parameters, whose body is then replaced.
    template = eval(f"lambda {parameters}: a0")
    stack_size = takes + (gives or 1) + 1
    template.__code__ = template.__code__.replace(
        co_code=bytes(body), co_stacksize=stack_size, co_names=(name,)
    )
    return template


def adding(function, effect: str):
    """Return a handler that pops a value, and calls `function(container, value)`.

    The container is deeper in the stack, where the argument of the instruction says. `effect` is
    the handler's docstring.
    """

    def handler(self, depth):
        value = self.pop()
        function(self.stack[-depth], value)

    handler.__doc__ = effect
    return handler


def natively(opname: str, takes: int, gives: int, effect: str):
    """Return a handler that has CPython run the instruction `opname`.

    The handler takes `takes` values off the stack, and pushes the `gives` values that CPython
    leaves. `effect` is the handler's docstring.
    """

    def handler(self):
        self.stack += native(opname, 0, takes, gives)(*self.take(takes))

    handler.__doc__ = effect
    return handler


class SavedVariable:
    """A saved variable, while an inlined comprehension uses the slot for its own variable.

    Attributes
    ----------
    variables
        `frame.local` or `frame.cells`: the dict to which the value goes back.
    value
        The value or the cell that the variable had; NULL if it was unbound.
    """

    def __init__(self, variables, value):
        """Save a value."""
        self.variables = variables
        self.value = value

    def __repr__(self):
        return repr(self.value)


class More:
    """Every other handler, by what it is about."""

    # Globals that are set, and names that are deleted

    def STORE_GLOBAL(self, name):
        """[value] → []"""
        self.globals[name] = self.pop()

    def DELETE_GLOBAL(self, name):
        """[] → []"""
        if name not in self.globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del self.globals[name]

    def DELETE_DEREF(self, name):
        """[] → []"""
        self.content_of_cell(name)
        del self.cells[name].cell_contents

    # Since 3.12, a comprehension runs in the frame of its function. If its variable has the name of
    # a variable of the function, it saves that one, and restores it at the end

    def LOAD_FAST_AND_CLEAR(self, name):
        """[] → [what the slot held]"""
        is_cell = name in self.code.co_cellvars and name not in self.local
        variables = self.cells if is_cell else self.local
        self.push(SavedVariable(variables, variables.pop(name, NULL)))

    def STORE_SLOT(self, name):
        """[value, or what the slot held] → []"""
        value = self.pop()
        if type(value) is not SavedVariable:  # a variable of the comprehension itself
            self.local[name] = value
            return
        self.local.pop(name, None)
        if value.value is not NULL:  # else the function's variable was unbound, and is again
            value.variables[name] = value.value

    def LOAD_SLOT(self, name):
        """[] → [local or cell]"""
        self.push(self.local[name] if name in self.local else self.cells[name])

    def MAKE_CELL(self, name):
        """[] → []: the slot now holds a cell, and the cell holds the value"""
        self.cells[name] = CellType(self.local.pop(name)) if name in self.local else CellType()

    # What is done with an attribute but reading it, and two operators

    UNARY_POSITIVE = pushing(operator.pos, 1, "[value] → [+value]")
    UNARY_INVERT = pushing(operator.invert, 1, "[value] → [~value]")

    def STORE_ATTR(self, name):
        """[value, object] → []"""
        value, obj = self.take(2)
        setattr(obj, name, value)

    def DELETE_ATTR(self, name):
        """[object] → []"""
        delattr(self.pop(), name)

    def LOAD_SUPER_ATTR(self, name, with_arguments):
        """[super, class, self] → [attribute]"""
        maker, cls, obj = self.take(3)  # `maker` is `super`, unless the program has replaced it
        # A plain `super()` would look for its arguments in the calling frame.
        arguments = (cls, obj) if with_arguments or maker is super else ()
        proxy = self.call(maker, *arguments)
        self.push(getattr(proxy, name))

    # What the steps leave out: they build lists and tuples, and read items

    BUILD_SET = gathering(set, "[first, …, last] → [set]")
    BUILD_SLICE = gathering(lambda ends: slice(*ends), "[start, stop, and a step if so] → [slice]")
    LIST_APPEND = adding(list.append, "[list, …, item] → [list, …]")
    SET_ADD = adding(set.add, "[set, …, item] → [set, …]")
    LIST_EXTEND = adding(native("LIST_EXTEND", 1, 2), "[list, …, iterable] → [list, …]")
    SET_UPDATE = adding(set.update, "[set, …, iterable] → [set, …]")
    DICT_UPDATE = adding(native("DICT_UPDATE", 1, 2), "[dict, …, mapping] → [dict, …]")
    LIST_TO_TUPLE = pushing(tuple, 1, "[list] → [tuple]")

    def STORE_SUBSCR(self):
        """[value, container, key] → []"""
        value, container, key = self.take(3)
        container[key] = value

    def DELETE_SUBSCR(self):
        """[container, key] → []"""
        container, key = self.take(2)
        del container[key]

    def MAP_ADD(self, depth):
        """[dict, …, key, value] → [dict, …]"""
        key, value = self.take(2)
        self.stack[-depth][key] = value

    def BUILD_MAP(self, count):
        """[key, value, …] → [dict]"""
        flat = self.take(2 * count)
        keys = flat[::2]
        values = flat[1::2]
        self.push(dict(zip(keys, values, strict=True)))

    def BUILD_CONST_KEY_MAP(self, count):
        """[first, …, last, keys] → [dict]"""
        keys = self.pop()
        values = self.take(count)
        self.push(dict(zip(keys, values, strict=True)))

    def UNPACK_SEQUENCE(self, count):
        """[iterable] → [last, …, first]: the first is on top, ready to be stored"""
        self.stack += native("UNPACK_SEQUENCE", count, 1, count)(self.pop())

    def UNPACK_EX(self, counts):
        """[iterable] → [last, …, the list in the middle, …, first]"""
        before = counts & 255  # how many names stand before the starred one
        after = counts >> 8  # and how many behind it
        total = before + 1 + after
        self.stack += native("UNPACK_EX", counts, 1, total)(self.pop())

    # What an f-string becomes

    BUILD_STRING = gathering("".join, "[first, …, last] → [str]")

    def FORMAT_VALUE(self, which, with_spec):
        """[value] or [value, spec] → [str]"""
        spec = self.pop() if with_spec else ""
        self.push(format(CONVERSIONS[which](self.pop()), spec))

    def CONVERT_VALUE(self, which):
        """[value] → [its str, repr or ascii]"""
        self.push(CONVERSIONS[which](self.pop()))

    # `f(*args, **kwargs)` and `class`

    def CALL_FUNCTION_EX(self, with_keywords):
        """[function, iterable] or [function, iterable, mapping] → [value]"""
        kwargs = self.pop() if with_keywords else {}
        function, arguments = self.take(2)
        if not hasattr(type(arguments), "__iter__") or not hasattr(kwargs, "keys"):
            function(*arguments, **kwargs)  # CPython raises its TypeError
        self.start(function, list(arguments), dict(kwargs))

    def DICT_MERGE(self, depth):
        """[function …, dict, …, mapping] → [function …, dict, …]: keywords, no key twice"""
        mapping = self.pop()
        keywords = self.stack[-depth]
        is_mapping = hasattr(mapping, "keys")
        if not is_mapping or any(key in keywords for key in mapping.keys()):  # noqa: SIM118
            function = self.stack[-depth - 2]
            function(**keywords, **mapping)  # CPython raises its TypeError
        keywords.update(mapping)

    def LOAD_BUILD_CLASS(self):
        """[] → [__build_class__]"""
        self.push(self.builtins["__build_class__"])

    # What surrounds the plain `try` of the steps

    LOAD_ASSERTION_ERROR = pushing(lambda: AssertionError, 0, "[] → [AssertionError]")
    PREP_RERAISE_STAR = pushing(
        native(*PREP_STAR, 2), 2, "[original, what the clauses left] → [what to raise, or None]"
    )

    def BEFORE_WITH(self):
        """[manager] → [its __exit__, what __enter__ returned]"""
        manager = self.pop()
        kind = type(manager)
        if not (hasattr(kind, "__enter__") and hasattr(kind, "__exit__")):
            native("BEFORE_WITH", 0, 1, 2)(manager)  # CPython raises its TypeError
        # CPython looks both methods up in the class, not in the object.
        enter = inspect.getattr_static(kind, "__enter__")
        leave = inspect.getattr_static(kind, "__exit__")
        self.push(leave.__get__(manager, kind))
        self.push(self.call(enter.__get__(manager, kind)))

    def WITH_EXCEPT_START(self):
        """[__exit__, lasti, handled before, exception] → [the same, what __exit__ returned]"""
        error = self.stack[-1]
        leave = self.stack[-4]
        self.push(self.call(leave, type(error), error, error.__traceback__))

    def CHECK_EG_MATCH(self):
        """[exception, class] → [the rest, the part that matches], None for an empty one"""
        error, wanted = self.take(2)
        refuse_uncatchable(wanted)
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if any(issubclass(kind, BaseExceptionGroup) for kind in kinds):
            message = "catching ExceptionGroup with except* is not allowed. Use except instead."
            raise TypeError(message)

        rest = error
        match = None
        if isinstance(error, BaseExceptionGroup):
            match, rest = error.split(wanted)
        elif isinstance(error, wanted):  # `except*` always gets a group
            rest = None
            match = BaseExceptionGroup("", (error,))
        self.stack += (rest, match)
        if match is not None:  # the clause runs, and handles this part
            self.handled = match

    # `yield` and `yield from`

    def RETURN_GENERATOR(self):
        """[] → the caller's stack gets a generator; this frame waits in it"""
        self.leave(generator_of(self))

    def YIELD_VALUE(self):
        """[value] → leaves with it; what continues the frame pushes what was sent"""
        self.leave(self.pop())

    def GET_YIELD_FROM_ITER(self):
        """[iterable] → [iterator]"""
        iterable = self.pop()
        if inspect.isgenerator(iterable):  # it is its own iterator
            self.push(iterable)
        else:
            self.push(iter(iterable))

    def SEND(self, after):
        """[iterator, sent] → [iterator, its next value], or [what it returned] and jump"""
        sent = self.pop()
        iterator = self.stack[-1]
        try:
            value = next(iterator) if sent is None else iterator.send(sent)
            self.push(value)
        except StopIteration as stop:
            self.stack[-1] = stop.value
            self.jump(after)

    def CLEANUP_THROW(self):
        """[iterator, sent, StopIteration] → [its value]; anything else is raised again"""
        # The handler around a `yield from`: a StopIteration says that the iterator has ended.
        error = self.pop()
        if not isinstance(error, StopIteration):
            raise error
        self.stack[-2:] = (error.value,)

    # `import` and `from … import …`, in functions; a module's own code CPython runs

    def IMPORT_NAME(self, name):
        """[level, names] → [module]"""
        level, names = self.take(2)
        importer = self.builtins["__import__"]
        self.push(self.call(importer, name, self.globals, None, names, level))

    def IMPORT_FROM(self, name):
        """[module] → [module, its attribute]"""
        self.stack += native("IMPORT_FROM", 0, 1, 2, name)(self.pop())

    # CPython's second table of instructions

    def CALL_INTRINSIC_1(self, name, number):
        """[value] → [what the intrinsic makes of it]"""
        if "ASYNC" in name:
            raise Unsupported("this machine runs no async code, and here is an async generator")
        # A StopIteration in a generator becomes a RuntimeError. CPython's generator that continues
        # the machine's frame does that.
        if name != "INTRINSIC_STOPITERATION_ERROR":
            self.push(native("CALL_INTRINSIC_1", number, 1)(self.pop()))

    def CALL_INTRINSIC_2(self, name, number):
        """[first, second] → [what the intrinsic makes of them]"""
        self.push(native("CALL_INTRINSIC_2", number, 2)(*self.take(2)))

    # What `match` asks of its subject

    GET_LEN = natively("GET_LEN", 1, 2, "[subject] → [subject, its length]")
    MATCH_SEQUENCE = natively("MATCH_SEQUENCE", 1, 2, "[subject] → [subject, is it a sequence]")
    MATCH_MAPPING = natively("MATCH_MAPPING", 1, 2, "[subject] → [subject, is it a mapping]")
    MATCH_KEYS = natively("MATCH_KEYS", 2, 3, "[subject, keys] → [subject, keys, values or None]")

    def MATCH_CLASS(self, count):
        """[subject, class, keyword names] → [attributes or None]"""
        self.push(native("MATCH_CLASS", count, 3)(*self.take(3)))
