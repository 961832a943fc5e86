"""An op's definition -> the attributes that a call leaves out, with their default values.

Generated wrappers hand over every attribute. An op that is called without one has no value for it,
whatever its definition says: SetOpAttrWithDefaults of pywrap_tfe_src.cc fills them in for the fast
path, and this does so here.
"""

FIELDS = ("s", "i", "f", "b", "type", "shape", "func")


def completed(definition, inputs: list, attrs: tuple) -> tuple:
    """Return `attrs` and, behind them, each default that they do not name.

    So with the length of an empty list of inputs: from others TensorFlow reads it off.
    """
    if definition is None:
        return attrs
    named, inferred = set(attrs[::2]), _inferred(definition)
    found = _empty(definition, inputs)
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in named | inferred:
            found += [attr.name, _value(attr.default_value)]
    return (*attrs, *found)


def _inferred(definition) -> set[str]:
    """Return the attributes that TensorFlow reads off the inputs."""
    arguments = definition.input_arg
    return {name for a in arguments for name in (a.type_attr, a.number_attr, a.type_list_attr)}


def _empty(definition, inputs) -> list:
    """Return the attributes that say how long an empty list is."""
    found = []
    for argument, given in zip(definition.input_arg, inputs, strict=True):
        if isinstance(given, (list, tuple)) and not given:
            found += [argument.number_attr, 0] if argument.number_attr else []
            found += [argument.type_list_attr, []] if argument.type_list_attr else []
    return found


def _value(default):
    kind = default.WhichOneof("value")
    if kind != "list":
        return _one(kind, getattr(default, kind))
    for field in FIELDS:
        if values := getattr(default.list, field):
            return [_one(field, value) for value in values]
    return []


def _one(kind, value):
    if kind == "shape":
        return None if value.unknown_rank else [size.size for size in value.dim]
    return value.name if kind == "func" else value
