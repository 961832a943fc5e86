"""Modules of the standard library -> programs whose every line, the module's body too, is run."""
# ruff: noqa: E501 - programs as text

import contextlib
import importlib.util
import inspect
import opcode
import os
import sys
import types
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path

from helpers.mini import vm

LIBRARY = Path(os.__file__).parent

# (module, what replaces its C accelerator: these names of the finished module are taken away,
#  a program that uses it)
USES = {
    "heapq": """
heap = []
for n in [5, 1, 8, 3, 9, 2, 7]:
    m.heappush(heap, n)
result = [m.heappop(heap) for _ in range(7)], m.nlargest(3, range(20), key=lambda n: -n % 7)
result += m.nsmallest(2, "hello"), list(m.merge([1, 4], [2, 3], [0, 9])), m.heappushpop([3, 4], 1)
""",
    "textwrap": '''
text = """  The quick brown fox, who is very-very quick,
  jumps over    the lazy dog. It was not amused."""
result = m.wrap(text, 20), m.fill(text, 30, initial_indent="* "), m.dedent(text), m.shorten(text, 25)
result += m.indent("a\\n\\nb", "> "), m.wrap("supercalifragilistic", 5, break_long_words=True)
''',
    "json.decoder": r"""
decoder = m.JSONDecoder()
decoder.parse_string = m.py_scanstring
from json.scanner import py_make_scanner
decoder.scan_once = py_make_scanner(decoder)
good = '{"a": [1, -2.5e3, true, null, "x\\u00e9\\n"], "b": {}, "c": [[], [[]]], "d": NaN}'
result = [decoder.decode(good)]
for bad in ('{"a" 1}', "[1, 2", '"open', "{'a': 1}", "[1] x", '"\\q"'):
    try:
        decoder.decode(bad)
    except m.JSONDecodeError as error:
        result.append((str(error), error.pos))
""",
    "fractions": """
F = m.Fraction
result = [F(1, 3) + F(1, 6), F("0.125") * 3, 2 - F(1, 2), F(7, 2) // 2, F(7, 2) % 2, F(3, 4) ** -2]
result += [F(1, 2) < F(2, 3), F(1, 2) == 0.5, F(0.1).limit_denominator(100), round(F(7, 3), 1)]
result += [hash(F(1, 2)) == hash(0.5), repr(F(-3, 9)), str(F(5)), -F(1, 2), abs(F(-1, 2)), 3 / F(3, 7)]
for bad in ((1, 0), ("x",), (1.5, 2)):
    try:
        F(*bad)
    except (ZeroDivisionError, ValueError, TypeError) as error:
        result.append(f"{type(error).__name__} {error}")
""",
    "string": """
result = [m.Template("$who likes ${what} $$").substitute(who="tim", what="kung pao")]
result += [m.Template("$a $b").safe_substitute(a=1), m.capwords("a b  c"), m.Formatter().format("{0}-{k!r}", 1, k="x")]
""",
    "reprlib": """
result = m.repr(list(range(100))), m.repr("x" * 200), m.repr({"a": [[[[[[1]]]]]]})
""",
}
WITHOUT_C = {"heapq": "_heapq", "bisect": "_bisect", "statistics": "_statistics"}


def _program(name: str, use: str):
    """Return a function that runs the module's own source in a new namespace, then `use`."""
    spec = importlib.util.find_spec(name)
    code = compile(Path(spec.origin).read_text("utf-8"), spec.origin, "exec")
    using = compile(use, f"<use of {name}>", "exec")
    hidden = WITHOUT_C.get(name)

    def program():
        module = types.ModuleType(name)
        module.__file__, module.__package__ = spec.origin, spec.parent
        with _hidden(hidden):
            exec(code, module.__dict__)
        space = {"m": module, "__name__": "use"}
        exec(using, space)
        return space["result"]

    return program


@contextlib.contextmanager
def _hidden(name):
    """Let `import name` fail, so that a module keeps its pure-Python functions."""
    kept = sys.modules.get(name) if name else None
    if name:
        sys.modules[name] = None
    try:
        yield
    finally:
        if name and kept is not None:
            sys.modules[name] = kept
        elif name:
            del sys.modules[name]


def programs() -> dict[str, Callable]:
    """Return one program per module."""
    return {name: _program(name, use) for name, use in USES.items()}


def instructions() -> set[str]:
    """Return the plain instructions that the functions of the standard library need."""
    paths = [*LIBRARY.glob("*.py"), *LIBRARY.glob("[a-z]*/*.py")]
    skipped = {"test", "tests", "idlelib", "site-packages", "lib2to3"}
    kept = [p for p in sorted(paths) if not skipped & set(p.relative_to(LIBRARY).parts)]
    used = set().union(*map(_used, kept))
    return {plain for name in used for plain in vm.plain_names(opcode.opname[name])}


def _used(path) -> set[int]:
    """Return the opcodes of a module's functions, from its compiled file where there is one."""
    found, waiting = set(), [SourceFileLoader(path.stem, str(path)).get_code(path.stem)]
    while waiting:
        code = waiting.pop()
        waiting += [value for value in code.co_consts if isinstance(value, types.CodeType)]
        if code.co_flags & inspect.CO_OPTIMIZED:
            found.update(code.co_code[::2])
    return found
