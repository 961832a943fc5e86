"""The operators with one operand that the steps leave out."""

# ruff: noqa: N802 - a handler is named for its opcode

import operator

from helpers.mini.vm import special


class MoreOperators:
    """Plus and invert."""

    def UNARY_POSITIVE(self):
        """[value] → [+value]"""
        self.push(special.send(self, self.pop(), "__pos__", operator.pos))

    def UNARY_INVERT(self):
        """[value] → [~value]"""
        self.push(special.send(self, self.pop(), "__invert__", operator.invert))
