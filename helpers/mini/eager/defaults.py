"""An op's definition -> the attributes that a call leaves out, with their default values.

Generated wrappers hand over every attribute. An op that is called without one has no value for it,
whatever its definition says: SetOpAttrWithDefaults of pywrap_tfe_src.cc fills them in for the fast
path, and this does so here.
"""

FIELDS = ("s", "i", "f", "b", "type", "shape", "func")


def completed(definition, attrs: tuple) -> tuple:
    """Return `attrs` and, behind them, each default that they do not name."""
    if definition is None:
        return attrs
    named, inferred = set(attrs[::2]), _inferred(definition)
    found = []
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in named | inferred:
            found += [attr.name, _value(attr.default_value)]
    return (*attrs, *found)


def _inferred(definition) -> set[str]:
    """Return the attributes that TensorFlow reads off the inputs."""
    arguments = definition.input_arg
    return {name for a in arguments for name in (a.type_attr, a.number_attr, a.type_list_attr)}


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
