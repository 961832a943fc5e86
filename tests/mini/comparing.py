"""A program -> what it did in CPython and in the machine, and where the two differ.

Standard library only, so that any supported Python can run it, without the course's packages:

    python tests/mini/comparing.py            every program, the library's modules, the coverage
    python tests/mini/comparing.py --sources  programs given as JSON on the standard input

Both print one JSON object.
"""

import contextlib
import gc
import importlib
import importlib.util
import io
import json
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAMILIES = (
    *("basics", "functions", "exceptions", "generators", "classes", "patterns"),
    *("odd_classes", "odd_frames", "odd_errors", "odd_tracebacks", "odd_calls"),
)
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
LIMIT = 400


def machine():
    """Return helpers.mini.vm, without the front door where its packages are not installed."""
    if "helpers" not in sys.modules:
        try:
            importlib.import_module("helpers")
        except ImportError:
            house = types.ModuleType("helpers")
            house.__path__ = [str(ROOT / "helpers")]
            sys.modules["helpers"] = house
    return importlib.import_module("helpers.mini.vm")


def programs() -> dict[str, types.FunctionType]:
    """Return every program that this Python can compile, by family and name."""
    found = {}
    for family in FAMILIES:
        module = importlib.import_module(f"tests.mini.programs.{family}")
        found |= _functions(family, vars(module))
    newer = importlib.import_module("tests.mini.programs.newer")
    for version, source in newer.SOURCES:
        if sys.version_info >= version:
            family = f"since_{version[0]}_{version[1]}"
            space = {"__name__": family}
            exec(compile(source, family, "exec"), space)
            found |= _functions(family, space)
    return found


def _functions(family, space):
    return {
        f"{family}.{name}": value
        for name, value in space.items()
        if isinstance(value, types.FunctionType) and value.__module__ in (space["__name__"],)
    }


def outcome(call, *args) -> dict[str, str]:
    """Return what a call did: its output, its value, or its exception with its contexts."""
    printed = io.StringIO()
    did = {}
    try:
        with contextlib.redirect_stdout(printed):
            did["value"] = _words(call(*args))
    except BaseException as error:
        did["raised"] = _words(error)
        did["chain"] = " / ".join(_chain(error))
    gc.collect(0)
    did["printed"] = printed.getvalue()
    return did


def _words(value) -> str:
    if isinstance(value, BaseException):
        return f"{type(value).__qualname__}: {ADDRESS.sub('0x', str(value))}"
    return ADDRESS.sub("0x", f"{type(value).__name__} {value!r}")


def _chain(error, depth=8):
    while error is not None and depth:
        how = "cause" if error.__cause__ is not None else "context"
        yield f"{type(error).__name__} {how}"
        error, depth = error.__cause__ or error.__context__, depth - 1


def difference(fn) -> str | None:
    """Return how the machine's run of `fn` differs from CPython's, in words, or None."""
    real, ours = outcome(fn), outcome(machine().run, fn)
    if real == ours:
        return None
    parts = [key for key in sorted({*real, *ours}) if real.get(key) != ours.get(key)]
    told = [f"{key}: {real.get(key)!r} became {ours.get(key)!r}"[:LIMIT] for key in parts]
    return "; ".join(told)


def differences(functions: dict[str, types.FunctionType]) -> dict[str, str]:
    """Return the differing ones of named programs, each with its words."""
    told = {name: difference(fn) for name, fn in functions.items()}
    return {name: words for name, words in told.items() if words}


def from_source(source: str) -> types.FunctionType:
    """Return the function `program` that the source defines."""
    space = {"__name__": "made"}
    exec(compile(source, "<made>", "exec"), space)
    return space["program"]


def ladder_differences() -> dict[str, str]:
    """Return where the finished ladder differs from CPython on the programs of chapter 3.

    The file of programs is loaded by its path: its package needs the course's own requirements.
    """
    machine()
    ladder = importlib.import_module("helpers.mini.ladder")
    path = ROOT / "helpers/study/chapter_3/programs.py"
    spec = importlib.util.spec_from_file_location("chapter_3_programs", path)
    space = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(space)
    cases = [
        case for name, value in vars(space).items() if name.isupper() for case in _cases(value)
    ]
    whole, told = ladder.machine(*ladder.STEPS), {}
    for fn, args in cases:
        real, ours = outcome(fn, *args), outcome(whole().run, fn, *args)
        real.pop("chain", None), ours.pop("chain", None)
        if real != ours:
            told[f"{fn.__name__}{args}"] = f"{real} became {ours}"
    return told


def _cases(value):
    return value if isinstance(value, list) else []


def report() -> dict:
    """Return what this Python found: differences in programs and in modules, and the coverage."""
    from tests.mini import library

    known, whole = programs(), library.programs()
    vm = machine()
    return {
        "python": list(sys.version_info[:3]),
        "programs": len(known),
        "differences": differences(known) | differences(whole) | ladder_differences(),
        "modules": len(whole),
        "coverage": library.coverage(vm.can_run),
        "unknown": sorted(library.unknown(vm.missing)),
    }


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]
    if "--sources" in sys.argv:
        made = {str(n): from_source(source) for n, source in enumerate(json.load(sys.stdin))}
        print(json.dumps({"programs": len(made), "differences": differences(made)}))
    else:
        print(json.dumps(report()))
