"""Torch's text of a guard -> what it asks for in plain words, and what differs from that.

Torch writes a guard as `check  # the line it is for  # its place`. A form that is not known here is
quoted whole, and marked as torch's own words.
"""

import ast
import json
import re

from ...internals import torch_private
from ...safety import restoring
from ...safety.arguments import is_exactly, real_isinstance
from ..text import tensors
from ..text.value import type_name
from .dynamo_recorder import IMPORTED, same

BETWEEN, STATE = "(between values)", "(the state of torch)"
OF_TENSOR = "TENSOR_MATCH"
QUOTED = "torch's own words: "
LENGTHS = ("LENGTH_CHECK", "DICT_LENGTH_CHECK", "DICT_LENGTH")
TENSOR = re.compile(
    r"check_tensor\(.+?, (\w+), DispatchKeySet\(.*?\), torch\.(\w+), device=\w+, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
KEYS = re.compile(r"DispatchKeySet\((.*?)\), .*?device=(\w+)", re.DOTALL)
TORCHS_PLACE = re.compile(r" \((?=_dynamo/|torch/|fx/|user code )")  # behind the user's own
PLACE = re.compile(r"(?:^|[/\\])([^/\\<>]*[^/\\<>\d][^/\\<>]*\.py:\d+) in ")
FORMS = {  # kind of guard -> a pattern of torch's text, and what that says in plain words
    "GLOBAL_STATE": (".*", "torch's settings (grad mode, …) are unchanged"),
    "TORCH_FUNCTION_MODE_STACK": (".*", "the same function modes are on"),
    "DEFAULT_DEVICE": (".*", "the default device is the same"),
    "ID_MATCH": (".*", "it is the very same object"),
    **{f"{one.upper()}_MATCH": (".*", f"it is {one}") for one in ("True", "False", "None")},
    "EQUALS_MATCH": (".+? == (.+)", "it equals {}"),
    "TYPE_MATCH": (r".*type=<class '(?:[\w<>]+\.)*([\w<>]+)'>", "its type is {} itself"),
    OF_TENSOR: (TENSOR.pattern, "{0} {1} [{3}], stride [{4}], {2}"),
    "NO_TENSOR_ALIASING": (r"check_no_aliasing\((.*)\)", "{} are different objects"),
    "DIMENSION_DYNAMIC_MARKING_GUARD": (
        "(?:[^=;]+ == False(?:; )?)+",
        "none of its sizes is marked dynamic or static",
    ),
}
TEXTS = (  # the same for texts of any kind
    (r".*saved_tensors_hooks.*", "the same hooks on saved tensors are on"),
    (r"not ___dict_contains\((.+?), .+\.__dict__\)", "it has no attribute {} of its own"),
    (r"___dict_contains\((.+?), .+\.__dict__\)", "it has an attribute {} of its own"),
    (r"not ___dict_contains\((.+?), .+\)", "it has no key {}"),
    (r"___dict_contains\((.+?), .+\)", "it has the key {}"),
    (r"not set\.__contains__\(.+, (.+)\)", "{} is not in it"),
    (r"set\.__contains__\(.+, (.+)\)", "{} is in it"),
    (r"not hasattr\(.+, '(.+)'\)", "it has no attribute {}"),
    (r"hasattr\(.+, '(.+)'\)", "it has an attribute {}"),
    (r"___tuple_iterator_len\(.+\) == (\d+)", "the number of items left in it is {}"),
    (r"___normalize_range_iter\(.+\) == (.+)", "what is left of it has start, stop, step {}"),
    (r"___normalize_count_iter\(.+\) == (.+)", "its next number and its step are {}"),
    (r"len\(.+\) == (\d+)", "its length is {}"),
    (r"list\((?:dict\.keys\()?[^=]+\)\)? == (\[.*\])", "its keys are {}, in this order"),
    (r"\(type\(.+\) is (?:float|complex) and __(?:math|numpy)_isnan\(.+\)\)", "it is nan"),
    (r".+ is not None", "it is not None"),
    (r"torch\.autograd\.forward_ad\._current_level == (.+)", "forward-mode autograd's level is {}"),
    (r".*compare_functorch_state\(\[\]\)", "no transform of torch.func (vmap, grad, …) is on"),
    (r".*compare_functorch_state\(.*\)", "the same transforms of torch.func are on"),
    (r"___check_metadata_.*", "the metadata of the tensor's own class is the same"),
    (r"(int|float|str|bool|complex)\(.+\) == (.+)", "as {0}, it equals {1}"),
)
SETTINGS = {  # a key of torch's GlobalStateGuard -> its name for a learner
    "grad_mode": "grad mode",
    "torch_function": "the handling of __torch_function__",
    "torch_function_all_disabled": "torch._C.DisableTorchFunction",
    "deterministic_algorithms": "torch.use_deterministic_algorithms",
    "deterministic_algorithms_warn_only": "the warn_only of torch.use_deterministic_algorithms",
    "allow_tf32": "the setting allow_tf32",
    "allow_fp16_reduce": "the setting allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduce": "the setting allow_bf16_reduced_precision_reduction",
    "num_threads": "torch.get_num_threads()",
    "default_dtype": "the default dtype",
}
SCALARS = {5: "float16", 6: "float32", 7: "float64", 8: "complex32", 9: "complex64", 15: "bfloat16"}
CPP_NAMES = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "float32": "Float", "float64": "Double",
    "bool": "Bool", "bfloat16": "BFloat16", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip


def clean(words: str) -> str:
    """Return words without ids, addresses, uuids, and with torch's made-up globals by name."""
    words = IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), same(words))
    words = re.sub(r"___from_numpy\(([^()]*)\)", r"\1", words)
    return " ".join(words.replace("G['builtins']", "builtins").split())


def quoted(words: str) -> str:
    """Return torch's words whole, marked as torch's own."""
    return f"{QUOTED}{plain_source(check_of(words))}"


def check_of(part: str) -> str:
    """Return the check itself, without the remarks that torch writes behind it."""
    return part.split("  # ")[0].strip()


def line_of(parts) -> str:
    """Return the line of the learner's source that a guard was taken for, or nothing."""
    remarks = [remark.strip() for remark in parts[0].split("  # ")[1:]]
    own = len(remarks) > 1 and not remarks[-1].startswith("torch")
    return clean(remarks[0]) if own and "_dynamo/" not in remarks[0] else ""


def place_of(parts) -> str:
    """Return the file and line of a guard, such as `train.py:45`; nothing for a cell."""
    found = PLACE.search(TORCHS_PLACE.split(parts[0].rpartition("  # ")[2])[0])
    return found[1] if found else ""


def describe_guard(kind: str, parts) -> str:
    """Return in plain words what must hold; torch's own words for a form that is not known."""
    text = "; ".join(map(check_of, parts))
    if kind in LENGTHS and text.startswith("not "):
        return "its length is 0"
    forms = (FORMS[kind],) if kind in FORMS else ()
    for pattern, words in (*forms, *TEXTS):
        if not (found := re.fullmatch(pattern, text, re.DOTALL)):
            continue
        told = [*map(plain_source if kind == "NO_TENSOR_ALIASING" else clean, found.groups())]
        if kind == OF_TENSOR:
            told = [one.replace("None", "any") for one in told]
            told[2] = "requires grad" if told[2] == "True" else "no grad"
        return words.format(*told)
    return f"{QUOTED}{clean(text)}"


def plain_source(source: str) -> str:
    """Return a source as the function itself names the value: `x`, `options['on']`, `global K`."""
    words = re.sub(r"L\['(\w+)'\]", r"\1", clean(source))
    words = re.sub(r"___stack(\d+)", r"value \1 on the stack", words)
    words = re.sub(r"list\(dict\.keys\(([^()]+)\)\)", r"list(\1)", words)
    return re.sub(r"G\['(\w+)'\]", r"global \1", words)


def type_asked_for(text: str, value) -> str:
    """Return the type that a guard asks for, if a value of another may be equal; else nothing."""
    try:
        constant = ast.literal_eval(text.partition(" == ")[2])
    except (ValueError, SyntaxError):
        return ""
    asked = type(constant)
    if type(value) is asked:
        return ""
    is_number = is_exactly(value, bool, int, float) and is_exactly(constant, bool, int, float)
    may_be_equal = constant == value if is_number else real_isinstance(value, asked)
    return type_name(constant) if may_be_equal else ""


# ------------------------------------------------------------------ settings of torch


def changed_settings(text: str, reason: str = "") -> list[tuple[str, str, str]]:
    """Return (name, what it is now, what it must be) of each setting that differs.

    `text`: that of a guard on the global state; `reason`: what torch says of it. Nothing is
    returned where this torch writes its state in another way.
    """
    try:
        then = json.loads(check_of(text).partition(" against ")[2])
        now = json.loads(torch_private.global_state())
        names = re.findall(r"autocast\((\w+)\)_enabled", reason)
        types = re.findall(r"autocast\((\w+)\)_dtype", reason)
        found = _changed_autocast(
            then.pop("autocast_state"), now.pop("autocast_state"), names, types
        )
    except Exception:  # what torch writes here is its own affair
        return []
    for key in then:
        if now.get(key) != then[key]:
            words = (_setting(key, value) for value in (now.get(key), then[key]))
            found.append((SETTINGS.get(key, key), *words))
    return found


def _setting(key: str, value) -> str:
    if key == "default_dtype":
        return SCALARS.get(value, f"torch's number {value}")
    return {True: "on", False: "off"}[value] if type(value) is bool else str(value)


def _changed_autocast(then: dict, now: dict, devices, typed) -> list[tuple[str, str, str]]:
    found, names = [], {}
    for key, named in (("enabled", devices), ("dtype", typed)):
        changed = [at for at, (a, b) in enumerate(zip(then[key], now[key], strict=True)) if a != b]
        if key == "dtype":  # where it was off, nobody asks
            changed = [at for at in changed if then["enabled"][at]]
        if len(named) == len(changed):
            names |= dict(zip(changed, named, strict=True))
        for at in changed:
            words = [_autocast(key, state[key][at]) for state in (now, then)]
            what = "autocast" if key == "enabled" else "the dtype of autocast"
            found.append((f"{what} ({names.get(at, f'device number {at}')})", *words))
    if then.get("cached_enabled") != now.get("cached_enabled"):
        words = [_autocast("enabled", state.get("cached_enabled")) for state in (now, then)]
        found.append(("the cache of autocast", *words))
    return found


def _autocast(key: str, value) -> str:
    return SCALARS.get(value, f"torch's number {value}") if key == "dtype" else _setting(key, value)


# ------------------------------------------------------------------ tensors


def tensor_differences(text: str, value, said: str = "") -> tuple[list[str], list[tuple] | None]:
    """Return how a tensor differs from what its guard asks for, in torch's form of words.

    Second come (name, now, asked) of settings of torch that make it differ: inference mode. They
    are None if one does that has a guard of its own: autocast.
    `said`: the words of the one that torch names itself; they come first.
    """
    kind, dtype, grad, sizes, strides = TENSOR.match(text).groups()
    if type_name(value) != kind:
        return [], []
    keys, _ = KEYS.search(text).groups()
    found = [said] if said and not said.startswith("dispatch key") else []
    shape, now = tuple(tensors.field(value, "shape")), str(tensors.field(value, "dtype"))
    if now != f"torch.{dtype}":
        found.append(f"dtype mismatch. expected {_cpp(dtype)}, actual {_cpp(now[6:])}")
    requires = tensors.field(value, "requires_grad")
    if str(bool(requires)) != grad:
        found.append(f"requires_grad mismatch. expected requires_grad={int(grad == 'True')}")
    asked = _split(sizes)
    if len(asked) != len(shape):
        found.append(f"rank mismatch. expected {len(asked)}, actual {len(shape)}")
        found += _other_strides(asked, strides, value, shape)
    else:
        found += _mismatches("size", asked, shape)
        found += _stride_differences(asked, strides, value, shape)
    of_tensor, of_state = _key_differences(keys, text, value)
    found += of_tensor
    unique = {}
    for words in found:  # torch's own come first
        unique.setdefault(words.partition(". expected")[0], words)
    return [*unique.values()], of_state


def _cpp(dtype: str) -> str:
    return CPP_NAMES.get(dtype, dtype)


def _mismatches(what: str, asked, actual) -> list[str]:
    return [
        f"{what} mismatch at index {at}. expected {number}, actual {size}"
        for at, (number, size) in enumerate(zip(asked, actual, strict=True))
        if number not in ("None", str(size))
    ]


def _stride_differences(asked, strides: str, value, shape) -> list[str]:
    """Return the strides that differ by themselves, and not because a size does."""
    expected, actual = _split(strides), _strides(value)
    if actual is None or len(expected) != len(actual):
        return []
    sizes = zip(asked, shape, strict=True)
    if any(number not in ("None", str(size)) for number, size in sizes) and not (
        _other_strides(asked, strides, value, shape)
    ):
        return []
    return _mismatches("stride", expected, actual)


def _other_strides(asked, strides: str, value, shape) -> list[str]:
    """Return in words that a tensor of other sizes is not laid out as these, one after another."""
    expected, actual = _split(strides), _strides(value)
    if actual is None:
        return []
    plain = _contiguous([int(one) if one != "None" else 2 for one in asked])
    follows = all(one in ("None", str(step)) for one, step in zip(expected, plain, strict=False))
    if follows and actual == _contiguous(shape):
        return []
    return [f"stride mismatch. expected [{', '.join(expected)}], actual {actual}"]


def _split(numbers: str) -> list[str]:
    return [one.strip() for one in numbers.split(",") if one.strip()]


def _strides(value) -> list[int] | None:
    try:
        has_strides = str(tensors.field(value, "layout")) == "torch.strided"
        with tensors.plainly():
            return [*value.stride()] if has_strides else None
    except Exception:  # nested
        return None


def _contiguous(sizes) -> list[int]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def _key_differences(keys: str, text: str, value) -> tuple[list[str], list[tuple] | None]:
    """Return differences in the dispatch keys: of the tensor itself, and of torch's state."""
    torch = restoring.module("torch")
    with tensors.plainly():
        is_inference = value.is_inference()
    asked = {key.strip() for key in keys.split(",")}
    now = {key.strip() for key in torch_private.keys_now(value).split(",")}
    if asked == now:
        return [], []
    lacking, more = asked - now, now - asked
    if {key for key in lacking | more if key.startswith("Autocast")}:  # told by the state's guard
        lacking = {key for key in lacking if not key.startswith("Autocast")}
        more = {key for key in more if not key.startswith("Autocast")}
    if not lacking and not more:
        return [], None
    if all(key.startswith("Autograd") or key == "ADInplaceOrView" for key in lacking | more):
        if lacking and is_inference:
            return ["it was made in inference mode, and the entry is for one that was not"], []
        if lacking and torch.is_inference_mode_enabled():
            return [], [("inference mode", "on", "off")]
        if more and not is_inference and not torch.is_inference_mode_enabled():
            words = "on, or this tensor was made in it"
            return [], [("inference mode", "off", words)]
    if more and all(key.startswith("FuncTorch") for key in lacking | more):
        return ["it is inside a transform of torch.func, and the entry is for one outside"], []
    shown = ", ".join(sorted(asked)), ", ".join(sorted(now))
    words = f"dispatch key set mismatch. expected DispatchKeySet({shown[0]}), actual "
    return [f"{QUOTED}{words}DispatchKeySet({shown[1]})"], []
