"""The C++ front end: <name>_cpp_def.cpp -> records for the registry, as definitions.py makes them.

The file is compiled, unmodified, with include/oneflow/core/framework/framework.h into a program,
which is kept in a cache under a hash of what lies in the op's folder, of the header, the compiler
and the flags. It is asked in a child process each time: rows of words in, rows of words out. A
definition that crashes, hangs or exits cannot take this process along.
"""

import hashlib
import os
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path

from ...safety import folders, progress
from ...safety.children import run, signal_name
from ...safety.folders import ManagedDirectory, temporary
from ...safety.missing_parts import COMPILER_CURE
from .autodiff import Request
from .definitions import check
from .errors import NoCompiler, OpError, need, place
from .registry import NUMBERS, TYPES, GradientDef, OpDef, Spec, attr_def

INCLUDE = Path(__file__).parent / "include"
FLAGS = ("-std=c++11", "-O0", "-I", str(INCLUDE))
LONGEST_BUILD, LONGEST = 120, 20  # seconds
ROW, WORD, END = "\x1e", "\x1f", "\x04"  # what ends a row, parts its words, ends an answer


def find_compiler():
    """Return the path of g++ or clang++ (or of $CXX); None where there is none."""
    named = os.environ.get("CXX")
    found = map(shutil.which, [named] if named else ["g++", "clang++"])
    return next(filter(None, found), None)


def build(source) -> Path:
    """Return the folder in the cache that holds the file's `program`. Raises OpError."""
    compiler = find_compiler()
    if compiler is None:
        other = place(str(source).replace("_cpp_def.cpp", "_op_def.py"))
        raise NoCompiler(
            f"{place(source)} needs a C++ compiler, and neither g++ nor clang++ is found: "
            f"{COMPILER_CURE}, or write the same definition in Python, {other}, "
            "and load it with .py_def()"
        )
    digest = hashlib.sha256(repr((compiler, FLAGS, source.name)).encode())
    for file in [*sorted(source.parent.rglob("*")), *sorted(INCLUDE.rglob("*"))]:
        if file.is_file() and file.suffix != ".py":
            digest.update(f"\0{file.name}\0".encode() + file.read_bytes())
    home, name = cache_folder(), digest.hexdigest()[:32]
    if not (home.path / name / "program").is_file():
        _compile(source, compiler, home, name)
    return home.path / name


def cache_folder() -> ManagedDirectory:
    """Return the folder that keeps programs."""
    return folders.cache("cpp_definitions")


def _compile(source, compiler, home, name):
    with progress.doing(f"compiling {source.name}"), home.work() as work:
        made = work / "entry"
        made.mkdir()
        command = [compiler, *FLAGS, source.name, "-o", str(made / "program")]
        env = {**os.environ, "LC_ALL": "C", "TMPDIR": str(work)}  # ended, it leaves files there
        done = run(command, LONGEST_BUILD, cwd=source.parent, env=env)
        if done.late:
            raise OpError(f"{place(source)} could not be compiled in {LONGEST_BUILD} seconds")
        if done.code:
            lines = done.err.replace(f"{INCLUDE}{os.sep}", "").splitlines()
            errors = [line.strip() for line in lines if "error" in line.lower()]
            raise OpError(f"{place(source)} does not compile: {[*errors, *lines, ''][0]}")
        with suppress(OSError):  # another process was faster
            home.put(made, name)


def ask(program, question, number=0, rows=()):
    """Return the rows that a program answers. OpError if it complains or does not come back."""
    with temporary("asked-") as home, home.work() as work:
        answer = home.path / "answer"
        command = [str(program), question, str(number), str(answer)]
        given = "".join(WORD.join(map(str, row)) + ROW for row in rows)
        done = run(command, LONGEST, given=given.encode(), cwd=work, kept=False)
        said = answer.read_bytes() if answer.is_file() else b""
    if done.late:
        raise OpError(f"did not come back in {LONGEST} seconds")
    if done.code < 0:
        name = signal_name(-done.code)
        raise OpError(f"crashed with {name}: look for a null or dangling pointer in it")
    if done.code or not said.endswith(END.encode()):
        raise OpError(f"ended its program (exit code {done.code}) instead of returning")
    text = said.decode(errors="replace").removesuffix(END)
    rows = [row.split(WORD) for row in text.split(ROW)[:-1]]
    need(not rows or rows[0][0] != "error", rows and rows[0][-1])
    return rows


def load(source):
    """Return the OpDefs and GradientDefs of a C++ definition file. Raises OpError."""
    program = build(source) / "program"
    try:
        rows = ask(program, "describe")
    except OpError as error:
        raise OpError(f"{place(source)} {error}") from error
    groups = []
    for row in rows:
        if row[0] in ("op", "gradient"):
            groups.append([])
        groups[-1].append(row)
    definitions = []
    for kind, make in (("op", _op), ("gradient", _gradient)):
        own = [group for group in groups if group[0][0] == kind]
        definitions += [make(program, str(source), n, group) for n, group in enumerate(own)]
    return definitions


def _op(program, file, number, group):
    (_, name, has_inference), *rows = group
    attrs, names = {}, {"input": (), "output": ()}
    for what, own, *rest in rows:
        if what == "attr":
            default = [_value(rest[0], text) for text in rest[1:]]
            attrs[own] = attr_def(f'op type "{name}": attr "{own}"', rest[0], *default)
        else:
            names[what] += (own,)
    types = {attr: known.type for attr, known in attrs.items()}
    infer = partial(_infer, program, number, names["output"], types)
    made = OpDef(name, *names.values(), attrs, infer, file, "C++")
    check(made, has_inference == "1")
    return made


def _gradient(program, file, number, group):
    (_, name, has_function), *_ = group
    made = GradientDef(name, partial(_generate, program, number), file)
    need(has_function == "1", f"{made} has no .SetBackwardOpConfGenFn(...)")
    return made


def _infer(program, number, outputs, types, inputs, attrs):
    first = next((NUMBERS[spec.dtype] for spec in inputs.values()), 0)
    rows = [("input", *at, NUMBERS[spec.dtype], *spec.shape) for at, spec in inputs.items()]
    rows += [("output", name, 0, first) for name in outputs]
    names, specs = {str(number): name for name, number in NUMBERS.items()}, {}
    rows += _attr_rows(attrs, types)
    for _, name, _index, dtype, known, *dims in ask(program, "infer", number, rows):
        shape = tuple(map(int, dims)) if known == "1" else None
        specs[name] = Spec(shape, names.get(dtype))
    return {name: specs[name] for name in outputs}


def _generate(program, number, forward):
    rows = [("op", forward.name, forward.type)]
    for kind in ("input", "output", "output_grad"):
        rows += [(kind, *argument, blob) for argument, blob in getattr(forward, f"{kind}s").items()]
    rows += [("wanted", *argument) for argument in sorted(forward.wanted)]
    requests = []
    rows += _attr_rows(forward.attrs, forward.attr_types)
    for kind, name, *rest in ask(program, "gradient", number, rows):
        if kind == "op":
            requests.append(Request(name, rest[0]))
        elif kind == "input":
            requests[-1].inputs.append((name, rest[0]))
        elif kind == "output":
            requests[-1].outputs.append(name)
        elif kind == "attr":
            requests[-1].attrs[name] = _value(*rest)
        else:
            forward.bound[name, int(rest[0])] = rest[1]
    return requests


def _attr_rows(attrs, types):
    return [
        ("attr", name, types[name], int(value) if types[name] == "bool" else value)
        for name, value in attrs.items()
    ]


def _value(kind, text):
    return text == "1" if kind == "bool" else TYPES[kind](text)
