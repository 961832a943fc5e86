"""Operators: arithmetic, comparison, membership, truth."""

import operator

from helpers.mini.vm import special
from helpers.mini.vm.opcodes.registry import opcode
from helpers.mini.vm.special import COMPARISONS, OPERATORS, is_plain


def binary_operator(instruction, code, slots):
    """Feed a handler the operator that the number stands for; `dis` knows its sign."""
    return OPERATORS[instruction.argrepr]


def comparison(instruction, code, slots):
    """Feed a handler the comparison, and whether this Python wants a bool at once."""
    return COMPARISONS[instruction.argval], instruction.argrepr.startswith("bool(")


@opcode("BINARY_OP", argument=binary_operator)
def binary_op(frame, op):
    """[left, right] → [left op right]"""
    stack = frame.stack
    right, left = stack.pop(), stack[-1]
    if is_plain(left) and is_plain(right):
        stack[-1] = op.native(left, right)
    else:
        stack[-1] = special.binary(frame.machine, op, left, right)


@opcode("COMPARE_OP", argument=comparison)
def compare_op(frame, wanted):
    """[left, right] → [left op right]"""
    op, as_bool = wanted
    stack = frame.stack
    right, left = stack.pop(), stack[-1]
    if is_plain(left) and is_plain(right):
        stack[-1] = op.native(left, right)
        return
    value = special.compare(frame.machine, op, left, right)
    stack[-1] = special.truth(frame.machine, value) if as_bool else value


@opcode("IS_OP")
def is_op(frame, inverted):
    """[left, right] → [left is right]"""
    right = frame.stack.pop()
    frame.stack[-1] = (frame.stack[-1] is right) != bool(inverted)


@opcode("CONTAINS_OP")
def contains_op(frame, inverted):
    """[item, container] → [item in container]"""
    container = frame.stack.pop()
    found = special.contains(frame.machine, container, frame.stack[-1])
    frame.stack[-1] = found != bool(inverted)


@opcode("UNARY_NEGATIVE")
def unary_negative(frame, _):
    """[value] → [-value]"""
    frame.stack[-1] = special.send(frame.machine, frame.stack[-1], "__neg__", operator.neg)


@opcode("UNARY_POSITIVE")
def unary_positive(frame, _):
    """[value] → [+value]"""
    frame.stack[-1] = special.send(frame.machine, frame.stack[-1], "__pos__", operator.pos)


@opcode("UNARY_INVERT")
def unary_invert(frame, _):
    """[value] → [~value]"""
    frame.stack[-1] = special.send(frame.machine, frame.stack[-1], "__invert__", operator.invert)


@opcode("UNARY_NOT")
def unary_not(frame, _):
    """[value] → [not value]"""
    frame.stack[-1] = not special.truth(frame.machine, frame.stack[-1])


@opcode("TO_BOOL")
def to_bool(frame, _):
    """[value] → [bool(value)]"""
    frame.stack[-1] = special.truth(frame.machine, frame.stack[-1])
