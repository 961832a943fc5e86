"""Definitions of ops in C++: loads <name>_cpp_def.cpp, and makes an OpDef or GradientDef of each.
The file is compiled to a program, which runs in a child process for each question. The question and
the answer are rows of words, such as ["input", "in", 0, 2, 5]: kind, name, index, dtype number,
size. So a definition that crashes, hangs or exits does not end this process.
"""

from functools import partial

from .autodiff import Request
from .cpp_program import ask_program, build_program
from .definitions import check_definition
from .errors import OpError, require, short_path
from .registry import NUMBERS, TYPES, GradientDef, OpDef, Spec, make_attr_def

NAMES_BY_NUMBER = {str(number): name for name, number in NUMBERS.items()}


def load(source):
    """Return the OpDefs and GradientDefs of a C++ definition file; OpError if it has a mistake."""
    program = build_program(source) / "program"
    try:
        rows = ask_program(program, "describe")
    except OpError as error:
        raise OpError(f"{short_path(source)} {error}") from error

    op_groups, gradient_groups = _group_rows(rows)
    file = str(source)
    # `number` is the index by which the program knows an op, or a gradient.
    definitions = []
    for number, group in enumerate(op_groups):
        definitions.append(_make_op(program, file, number, group))
    for number, group in enumerate(gradient_groups):
        definitions.append(_make_gradient(program, file, number, group))
    return definitions


def _group_rows(rows):
    """Return (groups of rows, one for each op; groups of rows, one for each gradient).

    The first row of a group begins with "op" or "gradient". Later rows describe its arguments.
    """
    groups = {"op": [], "gradient": []}
    group = None
    for row in rows:
        if row[0] in groups:  # the first row of the next group
            group = []
            groups[row[0]].append(group)
        group.append(row)
    return groups["op"], groups["gradient"]


def _make_op(program, file, number, group):
    """Return the OpDef that a group of rows describes, checked.

    The first row is ("op", name, "1" if it has an inference function). Each further row is
    ("input" or "output", name), or ("attr", name, type, and perhaps a default).
    """
    head, *rows = group
    _, name, has_inference = head
    attrs = {}
    arguments = {"input": (), "output": ()}
    for kind, argument_name, *rest in rows:
        if kind == "attr":
            type_name, *default_text = rest
            # A list with the default, or empty if the attribute has none.
            default = [_parse_value(type_name, text) for text in default_text]
            location = f'op type "{name}": attr "{argument_name}"'
            attrs[argument_name] = make_attr_def(location, type_name, *default)
        else:
            arguments[kind] += (argument_name,)

    inputs = arguments["input"]
    outputs = arguments["output"]
    attr_types = {attr: attr_def.type for attr, attr_def in attrs.items()}
    infer = partial(_infer, program, number, outputs, attr_types)
    definition = OpDef(name, inputs, outputs, attrs, infer, file, "C++")
    check_definition(definition, has_inference == "1")
    return definition


def _make_gradient(program, file, number, group):
    """Return the GradientDef of a group: ("gradient", name, "1" if it has a function)."""
    head = group[0]
    _, name, has_function = head
    definition = GradientDef(name, partial(_generate, program, number), file)
    require(has_function == "1", f"{definition} has no .SetBackwardOpConfGenFn(...)")
    return definition


def _infer(program, number, outputs, attr_types, inputs, attrs):
    """Ask the program for the shapes and dtypes of an op's outputs.

    With its first four arguments fixed, this is `OpDef.infer`: `inputs` maps (name, index) -> Spec,
    and the result maps output -> Spec. A shape that the definition did not set is None.
    """
    first_dtype = 0  # the dtype number of the first input, which is the default for outputs
    rows = []
    for argument, spec in inputs.items():
        dtype = NUMBERS[spec.dtype]
        first_dtype = first_dtype or dtype
        rows.append(("input", *argument, dtype, *spec.shape))
    for name in outputs:
        rows.append(("output", name, 0, first_dtype))
    rows += _list_attr_rows(attrs, attr_types)

    specs = {}
    for _, name, _index, dtype, is_known, *sizes in ask_program(program, "infer", number, rows):
        shape = tuple(map(int, sizes)) if is_known == "1" else None
        specs[name] = Spec(shape, NAMES_BY_NUMBER.get(dtype))
    return {name: specs[name] for name in outputs}


def _generate(program, number, forward):
    """Ask the program for the backward ops of a ForwardOp; return them as Requests.

    With its first two arguments fixed, this is `GradientDef.generate`. The blobs that the rule
    binds as gradients are put into `forward.bound`.
    """
    rows = [("op", forward.name, forward.type)]
    rows += [("input", *argument, blob) for argument, blob in forward.inputs.items()]
    rows += [("output", *argument, blob) for argument, blob in forward.outputs.items()]
    rows += [("output_grad", *argument, blob) for argument, blob in forward.output_grads.items()]
    rows += [("wanted", *argument) for argument in sorted(forward.wanted)]
    rows += _list_attr_rows(forward.attrs, forward.attr_types)

    # A row "op" begins a request. The rows "input", "output" and "attr" after it belong to that
    # one.
    requests = []
    for kind, name, *rest in ask_program(program, "gradient", number, rows):
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
        else:  # a gradient that is bound to an input
            index, blob = rest
            forward.bound[name, int(index)] = blob
    return requests


def _list_attr_rows(attrs, attr_types):
    """Return a row ("attr", name, type, value) for each attribute; a bool is 1 or 0."""
    rows = []
    for name, value in attrs.items():
        type_name = attr_types[name]
        if type_name == "bool":
            value = int(value)
        rows.append(("attr", name, type_name, value))
    return rows


def _parse_value(type_name, text):
    """Return the value of an attribute from the text in a program's answer."""
    if type_name == "bool":
        return text == "1"
    return TYPES[type_name](text)
