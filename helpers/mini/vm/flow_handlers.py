"""Handlers beyond the learner's steps that move between frames: calls, blocks, generators, `match`.

A handler is a method that is named for an opcode. Its docstring is its stack effect, the top of the
stack on the right.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import dis
import sys
from functools import cache
from types import CoroutineType, GeneratorType

from helpers.mini.vm.frame_object import generator_of
from helpers.mini.vm.instructions import NULL, Unsupported
from helpers.mini.vm.steps import refuse_uncatchable

# Bits of a type's flags, from CPython's `Include/object.h`.
MATCHES_SEQUENCE, MATCHES_MAPPING = 1 << 5, 1 << 6
# An opcode of its own until 3.11, then an intrinsic.
OLD = sys.version_info < (3, 12)
PREP_STAR = ("PREP_RERAISE_STAR", 0, 2) if OLD else ("CALL_INTRINSIC_2", 1, 2)


class MoreCalls:
    """`f(*args, **kwargs)` and `class`."""

    def CALL_FUNCTION_EX(self, with_keywords):
        """[function, iterable] or [function, iterable, mapping] → [value]"""
        kwargs = self.pop() if with_keywords else {}
        function, arguments = self.take(2)
        if not hasattr(type(arguments), "__iter__") or not hasattr(kwargs, "keys"):
            function(*arguments, **kwargs)  # One of them cannot be unpacked: CPython says which.
        self.start(function, list(arguments), dict(kwargs))

    def DICT_MERGE(self, depth):
        """[function …, dict, …, mapping] → [function …, dict, …]: keywords, no key twice"""
        more = self.pop()
        known = self.stack[-depth]
        if not hasattr(more, "keys") or any(key in known for key in more.keys()):  # noqa: SIM118
            self.stack[-depth - 2](**known, **more)  # CPython says what is wrong.
        known.update(more)

    def LOAD_BUILD_CLASS(self):
        """[] → [__build_class__]"""
        if "__build_class__" not in self.builtins:
            raise NameError("__build_class__ not found")
        self.push(self.builtins["__build_class__"])


class MoreExceptions:
    """What surrounds the plain `try` of the steps."""

    def LOAD_ASSERTION_ERROR(self):
        """[] → [AssertionError]"""
        self.push(AssertionError)

    def BEFORE_WITH(self):
        """[manager] → [its __exit__, what __enter__ returned]"""
        manager = self.pop()
        enter = _bound(manager, "__enter__", "context manager")
        self.push(_bound(manager, "__exit__", "context manager", " (missed __exit__ method)"))
        self.push(self.call(enter))

    def WITH_EXCEPT_START(self):
        """[__exit__, lasti, handled before, exception] → [the same, what __exit__ returned]"""
        error = self.stack[-1]
        self.push(self.call(self.stack[-4], type(error), error, error.__traceback__))

    def CHECK_EG_MATCH(self):
        """[exception, class] → [the rest, the part that matches], None for an empty one"""
        error, wanted = self.take(2)
        refuse_uncatchable(wanted)
        _refuse_groups(wanted)
        if isinstance(error, wanted):
            wrapped = isinstance(error, BaseExceptionGroup)
            self.stack += (None, error if wrapped else BaseExceptionGroup("", (error,)))
        elif isinstance(error, BaseExceptionGroup):
            match, rest = error.split(wanted)
            self.stack += (rest, match) if match is not None else (error, None)
        else:
            self.stack += (error, None)
        if self.stack[-1] is not None:
            self.handled = self.stack[-1]

    def PREP_RERAISE_STAR(self):
        """[original, list of what the clauses left] → [what to raise, or None]"""
        original, left = self.take(2)
        self.push(native(*PREP_STAR)(original, left))


def _bound(obj, name: str, protocol: str, missed: str = ""):
    cls = type(obj)
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            get = getattr(type(found), "__get__", None)
            return found if get is None else get(found, obj, cls)
    raise TypeError(f"'{cls.__name__}' object does not support the {protocol} protocol{missed}")


def _refuse_groups(wanted):
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if issubclass(cls, BaseExceptionGroup):
            raise TypeError(
                "catching ExceptionGroup with except* is not allowed. Use except instead."
            )


class Generators:
    """`yield` and `yield from`."""

    def RETURN_GENERATOR(self):
        """[] → the caller's stack gets a generator; this frame waits in it"""
        self.leave(generator_of(self))

    def YIELD_VALUE(self):
        """[value] → leaves with it; whoever goes on with the frame pushes what was sent"""
        self.leave(self.pop())

    def GET_YIELD_FROM_ITER(self):
        """[iterable] → [iterator]"""
        iterable = self.pop()
        if type(iterable) is CoroutineType:
            raise Unsupported("this machine runs no async code, and here a coroutine is awaited")
        self.push(iterable if type(iterable) is GeneratorType else iter(iterable))

    def SEND(self, after):
        """[iterator, sent] → [iterator, its next value], or [what it returned] and jump"""
        sent = self.pop()
        iterator = self.stack[-1]
        try:
            self.push(next(iterator) if sent is None else iterator.send(sent))
        except StopIteration as stop:
            self.stack[-1] = stop.value
            self.jump(after)

    def CLEANUP_THROW(self):
        """[iterator, sent, StopIteration] → [its value]; anything else is raised again"""
        error = self.pop()
        if not isinstance(error, StopIteration):
            raise error
        self.stack[-2:] = (error.value,)


class Modules:
    """`import` and `from … import …`, in functions; a module's own code CPython runs."""

    def IMPORT_NAME(self, name):
        """[level, names] → [module]"""
        level, names = self.take(2)
        importer = self.builtins.get("__import__")
        if importer is None:
            raise ImportError("__import__ not found")
        self.push(self.call(importer, name, self.globals, self.names, names, level))

    def IMPORT_FROM(self, name):
        """[module] → [module, its attribute]"""
        module = self.stack[-1]
        value = getattr(module, name, NULL)
        self.push(_submodule(module, name) if value is NULL else value)


def _submodule(module, name):
    package = getattr(module, "__name__", None)
    known = sys.modules.get(f"{package}.{name}")
    if known is not None:
        return known
    if sys.modules.get(package) is module:
        exec(f"from {package} import {name}", {})  # CPython says why it cannot be imported.
    raise ImportError(f"cannot import name {name!r} from {package!r}")


class Intrinsics:
    """CPython's second table of instructions."""

    def CALL_INTRINSIC_1(self, name, number):
        """[value] → [what the intrinsic makes of it]"""
        if "ASYNC" in name:
            raise Unsupported("this machine runs no async code, and here is an async generator")
        stops = name == "INTRINSIC_STOPITERATION_ERROR"
        made = _stopped if stops else native("CALL_INTRINSIC_1", number, 1)
        self.push(made(self.pop()))

    def CALL_INTRINSIC_2(self, name, number):
        """[first, second] → [what the intrinsic makes of them]"""
        self.push(native("CALL_INTRINSIC_2", number, 2)(*self.take(2)))


def _stopped(error):
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError("generator raised StopIteration")
    told.__cause__ = told.__context__ = error
    return told


class Patterns:
    """What `match` asks of its subject."""

    def GET_LEN(self):
        """[subject] → [subject, its length]"""
        self.push(len(self.stack[-1]))

    def MATCH_SEQUENCE(self):
        """[subject] → [subject, is it a sequence]"""
        self.push(bool(type(self.stack[-1]).__flags__ & MATCHES_SEQUENCE))

    def MATCH_MAPPING(self):
        """[subject] → [subject, is it a mapping]"""
        self.push(bool(type(self.stack[-1]).__flags__ & MATCHES_MAPPING))

    def MATCH_KEYS(self):
        """[subject, keys] → [subject, keys, values or None]"""
        self.push(native("MATCH_KEYS", 0, 2, 3)(*self.stack[-2:])[2])

    def MATCH_CLASS(self, count):
        """[subject, class, keyword names] → [attributes or None]"""
        self.push(native("MATCH_CLASS", count, 3)(*self.take(3)))


@cache
def native(opname: str, number: int, takes: int, gives: int = 1):
    """Return a function of so many arguments whose body is this one instruction of CPython's."""
    template = eval(f"lambda {', '.join(f'a{n}' for n in range(takes))}: a0")
    steps = [("RESUME", 0), *(("LOAD_FAST", slot) for slot in range(takes)), (opname, number)]
    steps += [("BUILD_TUPLE", gives)] * (gives > 1) + [("RETURN_VALUE", 0)]
    body = bytes(byte for name, argument in steps for byte in (dis.opmap[name], argument))
    template.__code__ = template.__code__.replace(co_code=body, co_stacksize=takes + gives)
    return template


FLOW = (MoreCalls, MoreExceptions, Generators, Modules, Intrinsics, Patterns)
