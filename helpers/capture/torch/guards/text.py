"""A guard of torch's, as torch writes it -> plain words, with no id, address or path in them.

Torch writes a guard as `check  # the line it is for  # its place`; see torch/_dynamo/guards.py.
"""

import re

from helpers.capture.torch.dynamo.text import same
from helpers.model.phrase import clipped

IMPORTED = re.compile(r"G\['__import_(\w+)'\]")
TENSOR = re.compile(
    r"check_tensor\(.+?, (\w+), DispatchKeySet\(.*?\), torch\.(\w+), device=\w+, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
CLASS = re.compile(r"type=<class '(?:[\w<>]+\.)*([\w<>]+)'>")
ALIASING = re.compile(r"check_no_aliasing\((.*)\)")
KEY = re.compile(r"___\w*contains\((.+?), ")
LONGEST = 160
AMBIENT = {
    "GLOBAL_STATE": "torch's settings (grad mode, …) are as they were",
    "TORCH_FUNCTION_MODE_STACK": "the same function modes are on",
    "DEFAULT_DEVICE": "the default device is the same",
    "AUTOGRAD_SAVED_TENSORS_HOOKS": "the same hooks on saved tensors are on",
}
STATE = "(the state of torch)"


def clean(words: str) -> str:
    """Return words without ids, addresses, uuids, and with torch's made-up globals by name."""
    words = IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), same(words))
    words = " ".join(words.replace("G['builtins']", "builtins").split())
    return clipped(words, LONGEST)


def check_of(part: str) -> str:
    """Return the check itself, without the remarks that torch writes behind it."""
    return part.split("  # ")[0].strip()


def line_of(parts) -> str:
    """Return the line of the learner's source that a guard was taken for, or nothing."""
    remarks = [remark.strip() for remark in (parts[0].split("  # ")[1:] if parts else [])]
    own = len(remarks) > 1 and not remarks[-1].startswith("torch")
    return clean(remarks[0]) if own and "_dynamo/" not in remarks[0] else ""


def meaning(kind: str, source: str, parts) -> str:
    """Return in plain words what must hold; torch's own words for a kind that is not known."""
    checks = [check_of(part) for part in parts]
    if kind in AMBIENT:
        return AMBIENT[kind]
    if "saved_tensors_hooks" in checks[0]:
        return AMBIENT["AUTOGRAD_SAVED_TENSORS_HOOKS"]
    words = _WORDS.get(kind, lambda checks, source: "")(checks, source)
    return words or clean("; ".join(checks))


def plain_source(source: str) -> str:
    """Return a source as the function itself names the value: `x`, `options['on']`, `global K`."""
    words = re.sub(r"L\['(\w+)'\]", r"\1", clean(source))
    return re.sub(r"G\['(\w+)'\]", r"global \1", words)


def _tensor(checks, source) -> str:
    found = TENSOR.match(checks[0])
    if not found:
        return ""
    kind, dtype, grad, size, stride = found.groups()
    sizes, strides = (part.replace("None", "any") for part in (size, stride))
    needs = "requires grad" if grad == "True" else "no grad"
    return f"{kind} {dtype} [{sizes}], stride [{strides}], {needs}"


def _type(checks, source) -> str:
    found = CLASS.search(checks[0])
    return f"its type is {found[1]} itself" if found else ""


def _same(checks, source) -> str:
    return "it is the very same object"


def _equals(checks, source) -> str:
    _, found, value = checks[0].partition(f"{source} == ")
    return f"it equals {clean(value)}" if found else ""


def _length(checks, source) -> str:
    _, found, length = checks[0].partition(f"len({source}) == ")
    return f"its length is {length}" if found else ""


def _is(value: str):
    return lambda checks, source: f"it is {value}"


def _marks(checks, source) -> str:
    unmarked = all(check.endswith("== False") for check in checks)
    return (
        "none of its sizes is marked dynamic or static" if unmarked else "its sizes are so marked"
    )


def _aliasing(checks, source) -> str:
    found = ALIASING.match(checks[0])
    return f"{plain_source(found[1])} are different objects" if found else ""


def _key(checks, source) -> str:
    found = KEY.search(checks[0])
    return f"it has {'no ' * checks[0].startswith('not ')}key {found[1]}" if found else ""


_WORDS = {
    "TENSOR_MATCH": _tensor,
    "TYPE_MATCH": _type,
    "ID_MATCH": _same,
    "EQUALS_MATCH": _equals,
    "LENGTH_CHECK": _length,
    "DICT_LENGTH": _length,
    "TRUE_MATCH": _is("True"),
    "FALSE_MATCH": _is("False"),
    "NONE_MATCH": _is("None"),
    "DIMENSION_DYNAMIC_MARKING_GUARD": _marks,
    "NO_TENSOR_ALIASING": _aliasing,
    "DICT_CONTAINS": _key,
}
