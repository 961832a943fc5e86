"""f-strings: convert, format, join."""

from helpers.mini.vm.opcodes.registry import opcode

CONVERSIONS = (None, str, repr, ascii)


def _convert(frame, value, which):
    return CONVERSIONS[which](value) if which else value


@opcode("FORMAT_VALUE")
def format_value(frame, flags):
    """[value] or [value, spec] → [str]"""
    spec = frame.stack.pop() if flags & 4 else ""
    frame.stack[-1] = format(_convert(frame, frame.stack[-1], flags & 3), spec)


@opcode("CONVERT_VALUE")
def convert_value(frame, which):
    """[value] → [its str, repr or ascii]"""
    frame.stack[-1] = _convert(frame, frame.stack[-1], which)


@opcode("FORMAT_SIMPLE")
def format_simple(frame, _):
    """[value] → [str]"""
    frame.stack[-1] = format(frame.stack[-1])


@opcode("FORMAT_WITH_SPEC")
def format_with_spec(frame, _):
    """[value, spec] → [str]"""
    spec = frame.stack.pop()
    frame.stack[-1] = format(frame.stack[-1], spec)


@opcode("BUILD_STRING")
def build_string(frame, count):
    """[first, …, last] → [str]"""
    first = len(frame.stack) - count
    frame.stack[first:] = ("".join(frame.stack[first:]),)
