"""Chapter 3: mutants that do what the solution does, and why."""

_BOOLS = "both sides are True or False, of which there is one each"
_ZERO_OR_ONE = "inverted is 0 or 1, and equal to its bool"
_COUNTS = "the count of RAISE_VARARGS is the int 0, 1 or 2, and CPython keeps one of each"
_STRICT = "a call has as many names as keyword arguments"
_ONLY_EMPTY = "reading a cell raises nothing but a ValueError"
_APART = "neither statement looks at what the other changes"
_KEPT_TEXT = "CPython keeps one text of each name"
_LABEL = "what has no name is none of these names either"
_NO_LATER_10 = "nothing that comes after the last LOAD_CONST of 10 has a 10"
_ONE_10 = "CPython keeps one int 10, and 10.0 equals it"
_TEN = (
    "- ten = [s for s in steps if getattr(s, 'name', '') == 'LOAD_CONST' and s.arg == 10] | + ten"
)
_SIGNS = "- signs = [s for s in steps if getattr(s, 'name', '') == 'BINARY_OP'] | + signs"
_SIGNS_LINE = "signs = [s for s in steps if getattr(s, 'name', '') == 'BINARY_OP']"

SAME: dict[str, dict[str, str]] = {
    "code_patch": {
        f"+ {_SIGNS_LINE} | - {_SIGNS_LINE}": _APART,
        "+ ten[-1].arg = 25 | - ten[-1].arg = 25": _APART,
        "+ signs[-1].arg = BinaryOp.ADD | - signs[-1].arg = BinaryOp.ADD": _APART,
        f"{_SIGNS} = [s for s in steps if getattr(s, 'name', '') is 'BINARY_OP']": _KEPT_TEXT,
        f"{_SIGNS} = [s for s in steps if getattr(s, 'name', '_x') == 'BINARY_OP']": _LABEL,
        f"{_TEN} = [s for s in steps if getattr(s, 'name', '') is 'LOAD_CONST' and s.arg == 10]": (
            _KEPT_TEXT
        ),
        f"{_TEN} = [s for s in steps if getattr(s, 'name', '') >= 'LOAD_CONST' and s.arg == 10]": (
            _NO_LATER_10
        ),
        f"{_TEN} = [s for s in steps if getattr(s, 'name', '') == 'LOAD_CONST' and s.arg is 10]": (
            _ONE_10
        ),
        f"{_TEN} = [s for s in steps if getattr(s, 'name', '') == "
        "'LOAD_CONST' and s.arg == 10.0]": (_ONE_10),
        f"{_TEN} = [s for s in steps if getattr(s, 'name', '_x') == "
        "'LOAD_CONST' and s.arg == 10]": (_LABEL),
    },
    "vm_operators": {
        "- one, other = (self.pop(), self.pop()) | + other, one = (self.pop(), self.pop())": (
            "`is` does not ask which of the two comes first"
        ),
        "- self.push((one is other) != bool(inverted)) | "
        "+ self.push((one is other) is not bool(inverted))": _BOOLS,
        "- self.push((item in container) != bool(inverted)) | "
        "+ self.push((item in container) is not bool(inverted))": _BOOLS,
        "- self.push((one is other) != bool(inverted)) | "
        "+ self.push((one is other) != inverted)": _ZERO_OR_ONE,
        "- self.push((item in container) != bool(inverted)) | "
        "+ self.push((item in container) != inverted)": _ZERO_OR_ONE,
    },
    "vm_jumps": {"+ self.jump(after) | - self.jump(after)": _APART},
    "vm_calls": {
        "+ split = count - len(names) | - split = count - len(names)": _APART,
        "- keywords = dict(zip(names, values[split:], strict=True)) | "
        "+ keywords = dict(zip(names, values[split:]))": _STRICT,
        "- keywords = dict(zip(names, values[split:], strict=True)) | "
        "+ keywords = dict(zip(names, values[split:], strict=False))": _STRICT,
    },
    "vm_closures": {
        "- except ValueError: | + except Exception:": _ONLY_EMPTY,
        "- except ValueError: | + except BaseException:": _ONLY_EMPTY,
        "- raise self.unbound(name) from None | + raise self.unbound(name)": (
            "an error that a handler has caught is no context of the program's, with or without it"
        ),
    },
    "vm_exceptions": {
        "+ cause = [self.pop()] if count == 2 else [] | "
        "- cause = [self.pop()] if count == 2 else []": "nothing is popped where count is 0",
        "+ self.handled = error | - self.handled = error": (
            "pushing the error leaves what is handled alone"
        ),
        "- if count == 0 and self.handled is None: | "
        "+ if count is 0 and self.handled is None:": _COUNTS,
        "- cause = [self.pop()] if count == 2 else [] | "
        "+ cause = [self.pop()] if count is 2 else []": _COUNTS,
        "- cause = [self.pop()] if count == 2 else [] | "
        "+ cause = [self.pop()] if count >= 2 else []": _COUNTS,
        "- if count == 0 and self.handled is None: | "
        "+ if count == 0.0 and self.handled is None:": _COUNTS,
        "- cause = [self.pop()] if count == 2 else [] | "
        "+ cause = [self.pop()] if count == 2.0 else []": _COUNTS,
        "- raise error from cause[0] | + raise error from cause[-1]": "there is one cause",
    },
}
