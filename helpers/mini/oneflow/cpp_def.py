"""The C++ front end: <name>_cpp_def.cpp -> records for the registry, as definitions.py makes them.

The file is compiled into a program (cpp_program.py), which is asked in a child process each time:
rows of words in, rows of words out. A definition that crashes, hangs or exits cannot take this
process along.
"""

from functools import partial

from .autodiff import Request
from .cpp_program import ask, build
from .definitions import check
from .errors import OpError, need, place
from .registry import NUMBERS, TYPES, GradientDef, OpDef, Spec, attr_def

NAMES_BY_NUMBER = {str(number): name for name, number in NUMBERS.items()}


def load(source):
    """Return the OpDefs and GradientDefs of a C++ definition file. Raises OpError."""
    program = build(source) / "program"
    try:
        rows = ask(program, "describe")
    except OpError as error:
        raise OpError(f"{place(source)} {error}") from error

    op_groups, gradient_groups = _group_rows(rows)
    file = str(source)
    definitions = []
    for number, group in enumerate(op_groups):
        definitions.append(_make_op(program, file, number, group))
    for number, group in enumerate(gradient_groups):
        definitions.append(_make_gradient(program, file, number, group))
    return definitions


def _group_rows(rows):
    """Return the rows of each op, its head first, and those of each gradient."""
    groups = {"op": [], "gradient": []}
    group = None
    for row in rows:
        if row[0] in groups:
            group = []
            groups[row[0]].append(group)
        group.append(row)
    return groups["op"], groups["gradient"]


def _make_op(program, file, number, group):
    """Return the OpDef of one group of rows: a head, then a row for each argument or attribute."""
    head, *rows = group
    _, name, has_inference = head
    attrs = {}
    arguments = {"input": (), "output": ()}
    for kind, own_name, *rest in rows:
        if kind == "attr":
            type_name, *default_text = rest
            default = [_parse_value(type_name, text) for text in default_text]
            where = f'op type "{name}": attr "{own_name}"'
            attrs[own_name] = attr_def(where, type_name, *default)
        else:
            arguments[kind] += (own_name,)

    inputs = arguments["input"]
    outputs = arguments["output"]
    attr_types = {attr: known.type for attr, known in attrs.items()}
    infer = partial(_infer, program, number, outputs, attr_types)
    definition = OpDef(name, inputs, outputs, attrs, infer, file, "C++")
    check(definition, has_inference == "1")
    return definition


def _make_gradient(program, file, number, group):
    head = group[0]
    _, name, has_function = head
    definition = GradientDef(name, partial(_generate, program, number), file)
    need(has_function == "1", f"{definition} has no .SetBackwardOpConfGenFn(...)")
    return definition


def _infer(program, number, outputs, attr_types, inputs, attrs):
    """Ask the program for the shapes and dtypes of an op's outputs: OpDef.infer."""
    first_dtype = 0
    rows = []
    for argument, spec in inputs.items():
        dtype = NUMBERS[spec.dtype]
        first_dtype = first_dtype or dtype
        rows.append(("input", *argument, dtype, *spec.shape))
    for name in outputs:
        rows.append(("output", name, 0, first_dtype))
    rows += _list_attr_rows(attrs, attr_types)

    specs = {}
    for _, name, _index, dtype, is_known, *sizes in ask(program, "infer", number, rows):
        shape = tuple(map(int, sizes)) if is_known == "1" else None
        specs[name] = Spec(shape, NAMES_BY_NUMBER.get(dtype))
    return {name: specs[name] for name in outputs}


def _generate(program, number, forward):
    """Ask the program for the backward ops of a forward op: GradientDef.generate."""
    rows = [("op", forward.name, forward.type)]
    rows += [("input", *argument, blob) for argument, blob in forward.inputs.items()]
    rows += [("output", *argument, blob) for argument, blob in forward.outputs.items()]
    rows += [("output_grad", *argument, blob) for argument, blob in forward.output_grads.items()]
    rows += [("wanted", *argument) for argument in sorted(forward.wanted)]
    rows += _list_attr_rows(forward.attrs, forward.attr_types)

    requests = []
    for kind, name, *rest in ask(program, "gradient", number, rows):
        if kind == "op":
            (type_name,) = rest
            requests.append(Request(name, type_name))
        elif kind == "input":
            (blob,) = rest
            requests[-1].inputs.append((name, blob))
        elif kind == "output":
            requests[-1].outputs.append(name)
        elif kind == "attr":
            type_name, text = rest
            requests[-1].attrs[name] = _parse_value(type_name, text)
        else:
            index, blob = rest
            forward.bound[name, int(index)] = blob
    return requests


def _list_attr_rows(attrs, attr_types):
    """Return the rows that tell a program the attributes of an op."""
    rows = []
    for name, value in attrs.items():
        type_name = attr_types[name]
        if type_name == "bool":
            value = int(value)
        rows.append(("attr", name, type_name, value))
    return rows


def _parse_value(type_name, text):
    """Return the value of an attribute that a program has answered as text."""
    if type_name == "bool":
        return text == "1"
    return TYPES[type_name](text)
