"""Generators: a frame that leaves with a value and is gone on with later."""

# ruff: noqa: N802 - a handler is named for its opcode

from types import CoroutineType, GeneratorType

from helpers.mini.vm import suspended
from helpers.mini.vm.values import Unsupported


class Generators:
    """`yield` and `yield from`."""

    def RETURN_GENERATOR(self):
        """[] → the caller's stack gets a generator; this frame waits in it"""
        self.leave(suspended.generator_of(self))

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
