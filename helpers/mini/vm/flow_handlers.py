"""Handlers beyond the learner's steps that move between frames: calls, blocks, generators, `match`.

A handler is a method that is named for an opcode. Its docstring is its stack effect, the top of the
stack on the right.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import inspect
import sys

from helpers.mini.vm.data_handlers import native
from helpers.mini.vm.frame_object import generator_of
from helpers.mini.vm.instructions import Unsupported
from helpers.mini.vm.steps import pushing, refuse_uncatchable

# An opcode of its own until 3.11, then an intrinsic.
PREP_STAR = ("PREP_RERAISE_STAR", 0) if sys.version_info < (3, 12) else ("CALL_INTRINSIC_2", 1)


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
        self.push(self.builtins["__build_class__"])


class MoreExceptions:
    """What surrounds the plain `try` of the steps."""

    LOAD_ASSERTION_ERROR = pushing(lambda: AssertionError, 0, "[] → [AssertionError]")
    PREP_RERAISE_STAR = pushing(
        native(*PREP_STAR, 2), 2, "[original, what the clauses left] → [what to raise, or None]"
    )

    def BEFORE_WITH(self):
        """[manager] → [its __exit__, what __enter__ returned]"""
        manager = self.pop()
        kind = type(manager)
        if not (hasattr(kind, "__enter__") and hasattr(kind, "__exit__")):
            native("BEFORE_WITH", 0, 1, 2)(manager)  # CPython says what is missing.
        enter, leave = (inspect.getattr_static(kind, name) for name in ("__enter__", "__exit__"))
        self.push(leave.__get__(manager, kind))
        self.push(self.call(enter.__get__(manager, kind)))

    def WITH_EXCEPT_START(self):
        """[__exit__, lasti, handled before, exception] → [the same, what __exit__ returned]"""
        error = self.stack[-1]
        self.push(self.call(self.stack[-4], type(error), error, error.__traceback__))

    def CHECK_EG_MATCH(self):
        """[exception, class] → [the rest, the part that matches], None for an empty one"""
        error, wanted = self.take(2)
        refuse_uncatchable(wanted)
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if any(issubclass(kind, BaseExceptionGroup) for kind in kinds):
            words = "catching ExceptionGroup with except* is not allowed. Use except instead."
            raise TypeError(words)
        rest, match = error, None
        if isinstance(error, BaseExceptionGroup):
            match, rest = error.split(wanted)
        elif isinstance(error, wanted):
            rest, match = None, BaseExceptionGroup("", (error,))
        self.stack += (rest, match)
        if match is not None:
            self.handled = match


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
        self.push(iterable if inspect.isgenerator(iterable) else iter(iterable))

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
        importer = self.builtins["__import__"]
        self.push(self.call(importer, name, self.globals, None, names, level))

    def IMPORT_FROM(self, name):
        """[module] → [module, its attribute]"""
        self.stack += native("IMPORT_FROM", 0, 1, 2, name)(self.pop())


class Intrinsics:
    """CPython's second table of instructions."""

    def CALL_INTRINSIC_1(self, name, number):
        """[value] → [what the intrinsic makes of it]"""
        if "ASYNC" in name:
            raise Unsupported("this machine runs no async code, and here is an async generator")
        if name != "INTRINSIC_STOPITERATION_ERROR":  # the generator that drives the frame does it
            self.push(native("CALL_INTRINSIC_1", number, 1)(self.pop()))

    def CALL_INTRINSIC_2(self, name, number):
        """[first, second] → [what the intrinsic makes of them]"""
        self.push(native("CALL_INTRINSIC_2", number, 2)(*self.take(2)))


class Patterns:
    """What `match` asks of its subject."""

    def GET_LEN(self):
        """[subject] → [subject, its length]"""
        self.push(len(self.stack[-1]))

    def MATCH_SEQUENCE(self):
        """[subject] → [subject, is it a sequence]"""
        self.stack += native("MATCH_SEQUENCE", 0, 1, 2)(self.pop())

    def MATCH_MAPPING(self):
        """[subject] → [subject, is it a mapping]"""
        self.stack += native("MATCH_MAPPING", 0, 1, 2)(self.pop())

    def MATCH_KEYS(self):
        """[subject, keys] → [subject, keys, values or None]"""
        self.stack += native("MATCH_KEYS", 0, 2, 3)(*self.take(2))

    def MATCH_CLASS(self, count):
        """[subject, class, keyword names] → [attributes or None]"""
        self.push(native("MATCH_CLASS", count, 3)(*self.take(3)))


FLOW = (MoreCalls, MoreExceptions, Generators, Modules, Intrinsics, Patterns)
