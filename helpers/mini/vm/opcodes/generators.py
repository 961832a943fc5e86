"""Generators: a frame that leaves with a value and is gone on with later."""

from types import CoroutineType, GeneratorType

from helpers.mini.vm import suspended
from helpers.mini.vm.opcodes.registry import opcode
from helpers.mini.vm.values import LEAVE, Unsupported


@opcode("RETURN_GENERATOR")
def return_generator(frame, _):
    """[] → the caller's stack gets a generator; this frame waits in it"""
    frame.result = suspended.generator_of(frame)
    return LEAVE


@opcode("YIELD_VALUE")
def yield_value(frame, _):
    """[value] → leaves with it; whoever goes on with the frame pushes what was sent"""
    frame.result = frame.stack.pop()
    return LEAVE


@opcode("GET_YIELD_FROM_ITER")
def get_yield_from_iter(frame, _):
    """[iterable] → [iterator]"""
    if type(frame.stack[-1]) is CoroutineType:
        raise Unsupported("this machine runs no async code, and here a coroutine is awaited")
    if type(frame.stack[-1]) is not GeneratorType:
        frame.stack[-1] = iter(frame.stack[-1])


@opcode("SEND")
def send(frame, after):
    """[iterator, sent] → [iterator, its next value]; when it returns, jump with what it returned

    3.11 drops the iterator at that jump, later versions leave it to END_SEND.
    """
    sent = frame.stack.pop()
    iterator = frame.stack[-1]
    try:
        send_to = None if sent is None else iterator.send
        frame.stack.append(next(iterator) if send_to is None else send_to(sent))
    except StopIteration as stop:
        if not suspended.SUBITERATOR_STAYS:
            frame.stack.pop()
        frame.stack.append(stop.value)
        frame.pc = after


@opcode("END_SEND")
def end_send(frame, _):
    """[iterator, value] → [value]"""
    del frame.stack[-2]


@opcode("CLEANUP_THROW")
def cleanup_throw(frame, _):
    """[iterator, sent, StopIteration] → [None, its value]; anything else is raised again"""
    error = frame.stack.pop()
    if not isinstance(error, StopIteration):
        raise error
    frame.stack[-2:] = (None, error.value)
