"""Jumps and loops: an assignment to `frame.pc`, always or on a condition."""

from helpers.mini.vm import special
from helpers.mini.vm.opcodes.registry import opcode
from helpers.mini.vm.values import NULL


@opcode("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def jump(frame, target):
    """[] → []"""
    frame.pc = target


@opcode("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_TRUE")
def pop_jump_if_true(frame, target):
    """[value] → []"""
    value = frame.stack.pop()
    if value is True or (value is not False and special.truth(frame.machine, value)):
        frame.pc = target


@opcode("POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_FALSE")
def pop_jump_if_false(frame, target):
    """[value] → []"""
    value = frame.stack.pop()
    if value is False or (value is not True and not special.truth(frame.machine, value)):
        frame.pc = target


@opcode("POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE")
def pop_jump_if_none(frame, target):
    """[value] → []"""
    if frame.stack.pop() is None:
        frame.pc = target


@opcode("POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE")
def pop_jump_if_not_none(frame, target):
    """[value] → []"""
    if frame.stack.pop() is not None:
        frame.pc = target


@opcode("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(frame, target):
    """[value] → [value] and jump, or []"""
    _jump_or_pop(frame, target, True)


@opcode("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(frame, target):
    """[value] → [value] and jump, or []"""
    _jump_or_pop(frame, target, False)


def _jump_or_pop(frame, target, wanted):
    if special.truth(frame.machine, frame.stack[-1]) is wanted:
        frame.pc = target
    else:
        frame.stack.pop()


@opcode("GET_ITER")
def get_iter(frame, _):
    """[iterable] → [iterator]"""
    frame.stack[-1] = special.iterate(frame.machine, frame.stack[-1])


@opcode("FOR_ITER")
def for_iter(frame, after_the_loop):
    """[iterator] → [iterator, item], or [] and jump when there is no next item"""
    item = special.advance(frame.machine, frame.stack[-1], NULL)
    if item is NULL:
        frame.stack.pop()
        frame.pc = after_the_loop
    else:
        frame.stack.append(item)


@opcode("END_FOR")
def end_for(frame, _):
    """Never run: FOR_ITER jumps over it, here as in CPython."""
    raise AssertionError("FOR_ITER did not jump over END_FOR")
