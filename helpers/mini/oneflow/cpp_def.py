"""The C++ front end: <name>_cpp_def.cpp -> records for the registry, as definitions.py makes them.

The file is compiled, unmodified, with include/oneflow/core/framework/framework.h into a program.
"""

import contextlib
from functools import partial

from helpers.mini.oneflow.attributes import REQUIRED, TYPES, attr_def
from helpers.mini.oneflow.backward_op_conf import Plan, Request
from helpers.mini.oneflow.cpp_compiler import build, cache_folder
from helpers.mini.oneflow.cpp_program import Program, read, written
from helpers.mini.oneflow.definitions import check
from helpers.mini.oneflow.errors import OpError, need, place
from helpers.mini.oneflow.registry import GradientDef, OpDef, Spec

NUMBERS = {  # of enum DataType
    "float32": 2,
    "float64": 3,
    "int8": 4,
    "int32": 5,
    "int64": 6,
    "uint8": 7,
    "float16": 9,
}
DTYPES = {str(number): name for name, number in NUMBERS.items()}


def load(source):
    """Return the OpDefs and GradientDefs of a C++ definition file. Raises OpError."""
    entry = build(source)
    program = Program(entry / "program", source)
    definitions, counts = [], {"op": 0, "gradient": 0}
    for group in _groups(_described(entry, program)):
        kind = group[0][0]
        make = _op if kind == "op" else _gradient
        definitions.append(make(program, counts[kind], group))
        counts[kind] += 1
    return definitions


def _described(entry, program):
    """Return what the program registers; kept beside it, since it cannot change."""
    kept = entry / "describes"
    if kept.is_file():
        return read(kept.read_text())
    try:
        rows = program.ask("describe")
    except OpError as error:
        raise OpError(f"{place(program.source)} {error}") from error
    with contextlib.suppress(OSError, ValueError):  # then it is asked again the next time
        cache_folder().add(entry.name, kept.name, written(rows).encode())
    return rows


def _groups(rows):
    """Part rows into lists that begin with an op or a gradient."""
    groups = []
    for row in rows:
        if row[0] in ("op", "gradient"):
            groups.append([])
        groups[-1].append(row)
    return groups


def _op(program, number, group):
    (_, name, has_inference), *rows = group
    attrs = {}
    for _, attr, kind, *default in [row for row in rows if row[0] == "attr"]:
        where = f'op type "{name}": attr "{attr}"'
        need(attr not in attrs, f"{where} is defined twice")
        attrs[attr] = attr_def(where, _value(kind, *default) if default else REQUIRED, kind)
    inputs, outputs = (
        tuple(row[1] for row in rows if row[0] == kind) for kind in ("input", "output")
    )
    infer = partial(_infer, program, number, outputs, {a: d.type for a, d in attrs.items()})
    made = OpDef(name, inputs, outputs, attrs, infer, str(program.source), "C++")
    check(made, has_inference == "1")
    return made


def _gradient(program, number, group):
    (_, name, has_function), *_ = group
    generate = partial(_generate, program, number)
    made = GradientDef(name, generate, str(program.source))
    need(has_function == "1", f"{made} has no .SetBackwardOpConfGenFn(...)")
    return made


def _infer(program, number, outputs, types, inputs, attrs):
    """Run the inference function: OpDef.infer."""
    first = next((NUMBERS[spec.dtype] for spec in inputs.values()), 0)
    rows = [
        ("input", *argument, NUMBERS[spec.dtype], *spec.shape) for argument, spec in inputs.items()
    ]
    rows += [("output", name, 0, first) for name in outputs]
    answer = program.ask("infer", number, rows + _attr_rows(attrs, types))
    specs = {(name, int(index)): _spec(*rest) for _, name, index, *rest in answer}
    for argument, spec in inputs.items():
        same = specs[argument] == spec
        need(same, f'changes the shape or the dtype of its input "{argument[0]}"')
    return {name: specs[name, 0] for name in outputs}


def _spec(dtype, known, *dims):
    return Spec(tuple(map(int, dims)) if known == "1" else None, DTYPES.get(dtype))


def _generate(program, number, forward):
    """Run the gradient rule: GradientDef.generate."""
    rows = [("op", forward.name, forward.type)]
    for kind in ("input", "output", "output_grad"):
        rows += [(kind, *argument, blob) for argument, blob in getattr(forward, f"{kind}s").items()]
    rows += [("wanted", *argument) for argument in sorted(forward.wanted)]
    plan = Plan()
    rows += _attr_rows(forward.attrs, forward.attr_types)
    for kind, name, *rest in program.ask("gradient", number, rows):
        if kind == "op":
            plan.requests.append(Request(name, rest[0]))
        elif kind == "input":
            plan.requests[-1].inputs.append((name, rest[0]))
        elif kind == "output":
            plan.requests[-1].outputs.append(name)
        elif kind == "attr":
            plan.requests[-1].attrs[name] = _value(*rest)
        else:
            plan.bound[name, int(rest[0])] = rest[1]
    return plan


def _attr_rows(attrs, types):
    return [
        ("attr", name, types[name], int(value) if types[name] == "bool" else value)
        for name, value in attrs.items()
    ]


def _value(kind, text):
    """Return the Python value of an attribute that came as text."""
    return text == "1" if kind == "bool" else TYPES[kind](text)
