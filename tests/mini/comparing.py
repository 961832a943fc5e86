"""A program -> what it did in CPython and in the machine, and where the two differ.

Standard library only, so that any supported Python can run it, without the course's packages.
"""

import contextlib
import dis
import gc
import importlib
import importlib.util
import io
import re
import sys
import types
import warnings
from pathlib import Path

from helpers.mini import vm
from tests.mini import library

ROOT = Path(__file__).parents[2]
FAMILIES = ("basics", "functions", "exceptions", "generators", "classes", "patterns")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
LIMIT = 400
RUN: set[str] = set()  # the opcodes whose handlers have been run


def _noting(name):
    def run_it(self, *arguments):
        RUN.add(name)
        return handler(self, *arguments)

    handler = getattr(vm.Machine, name)
    return run_it


# The machine that the programs run in.
Noting = type("frame", (vm.Machine,), {name: _noting(name) for name in vm.opcodes(vm.Machine)})


def programs() -> dict[str, dict[str, types.FunctionType]]:
    """Return every program that this Python can compile, by family and name."""
    found = {}
    for family in FAMILIES:
        found[family] = _functions(vars(importlib.import_module(f"tests.mini.programs.{family}")))
    newer = importlib.import_module("tests.mini.programs.newer")
    for version, source in newer.SOURCES:
        if sys.version_info >= version:
            family = f"since_{version[0]}_{version[1]}"
            space = {"__name__": family}
            exec(compile(source, family, "exec"), space)
            found[family] = _functions(space)
    return found | {"library": library.programs(), "chapter_3": _steps()}


def _functions(space):
    own = (types.FunctionType, space["__name__"])
    return {n: v for n, v in space.items() if (type(v), getattr(v, "__module__", "")) == own}


def _steps() -> dict[str, types.FunctionType]:
    """Return the programs of chapter 3, read without the packages that its folder stands in.

    Those need the course's own requirements, which another Python does not have.
    """
    path = ROOT / "helpers/study/chapter_3/vm_programs.py"
    spec = importlib.util.spec_from_file_location("chapter_3_vm_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lists = {name: cases for name, cases in vars(module).items() if type(cases) is list}
    return {
        f"{name} {number}: {fn.__name__}{args}": _with(fn, args)
        for name, cases in lists.items()
        for number, (fn, args) in enumerate(cases)
    }


def _with(fn, args):
    def program():
        return fn(*args)

    return program


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
    real, ours = outcome(fn), outcome(Noting().run, fn)
    if real == ours:
        return None
    parts = [key for key in sorted({*real, *ours}) if real.get(key) != ours.get(key)]
    told = [f"{key}: {real.get(key)!r} became {ours.get(key)!r}"[:LIMIT] for key in parts]
    return "; ".join(told)


def differences(functions: dict[str, types.FunctionType]) -> dict[str, str]:
    """Return the differing ones of named programs, each with its words."""
    told = {name: difference(fn) for name, fn in functions.items()}
    return {name: words for name, words in told.items() if words}


def never_run() -> list[str]:
    """Return the handlers for this Python's instructions that no program has run yet."""
    plain = {name for real in dis.opmap for name in vm.plain_names(real)}
    return sorted((vm.opcodes(vm.Machine) & plain) - RUN)


def report() -> dict:
    """Return what this Python found, of every program."""
    warnings.simplefilter("ignore")
    known = programs()
    return {
        "programs": sum(map(len, known.values())),
        "modules": len(known["library"]),
        "broken modules": [n for n, fn in known["library"].items() if "value" not in outcome(fn)],
        "differences": {name: differences(found) for name, found in known.items()},
        "never run": never_run(),
        "unknown": sorted(library.instructions() - vm.opcodes(vm.Machine)),
    }
