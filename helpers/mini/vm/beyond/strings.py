"""f-strings: convert, format, join."""

# ruff: noqa: N802 - a handler is named for its opcode

CONVERSIONS = (lambda value: value, str, repr, ascii)


class Strings:
    """What an f-string becomes."""

    def FORMAT_VALUE(self, which, with_spec):
        """[value] or [value, spec] → [str]"""
        spec = self.pop() if with_spec else ""
        self.push(format(CONVERSIONS[which](self.pop()), spec))

    def CONVERT_VALUE(self, which):
        """[value] → [its str, repr or ascii]"""
        self.push(CONVERSIONS[which](self.pop()))

    def BUILD_STRING(self, count):
        """[first, …, last] → [str]"""
        self.push("".join(self.take(count)))
