"""Constants and the stack itself: push, drop, copy, swap, return."""

from helpers.mini.vm.opcodes.registry import constant, opcode
from helpers.mini.vm.values import LEAVE, NULL


@opcode("RESUME", "NOP", "CACHE")
def nop(frame, _):
    """[] → []"""


@opcode("LOAD_CONST", argument=constant)
def load_const(frame, value):
    """[] → [value]"""
    frame.stack.append(value)


@opcode("POP_TOP")
def pop_top(frame, _):
    """[value] → []"""
    frame.stack.pop()


@opcode("PUSH_NULL")
def push_null(frame, _):
    """[] → [NULL]"""
    frame.stack.append(NULL)


@opcode("COPY")
def copy(frame, depth):
    """[value, …] → [value, …, value]: the depth-th from the top, 1 being the top"""
    frame.stack.append(frame.stack[-depth])


@opcode("SWAP")
def swap(frame, depth):
    """[low, …, top] → [top, …, low]"""
    stack = frame.stack
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


@opcode("RETURN_VALUE")
def return_value(frame, _):
    """[value] → the caller's stack"""
    frame.result = frame.stack.pop()
    return LEAVE


@opcode("RETURN_CONST", argument=constant)
def return_const(frame, value):
    """[] → the caller's stack"""
    frame.result = value
    return LEAVE
