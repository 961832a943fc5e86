"""Torch's text of a guard -> what must hold, in plain words: `L['n'] == 2` is `it equals 2`.

Torch writes a guard as `check  # line of the program  # place of the line`, such as

    L['n'] == 2  # return x * n  # train.py:45 in step

Such a text is called a *part* of a guard, because a guard may have several of them. What it looks
at, `L['n']`, is its *source*: `L` are the locals of the function and `G` its globals. A check of a
form that is not known here is quoted whole, and marked as torch's own words.
"""

import ast
import re
from collections.abc import Sequence

from ...safety.arguments import is_exactly, real_isinstance, real_type_name
from .dynamo_messages import IMPORTED, clean_message

#: what is shown instead of a source for a guard that compares several values
BETWEEN_VALUES = "(between values)"
#: what is shown instead of a source for a guard that is about no value
STATE_OF_TORCH = "(the state of torch)"
#: torch's name for the kind of guard that checks a tensor
TENSOR_MATCH = "TENSOR_MATCH"
#: torch's names for the kinds of guard that check a length
LENGTH_KINDS = ("LENGTH_CHECK", "DICT_LENGTH_CHECK", "DICT_LENGTH")
QUOTE = "torch's own words: "
REMARK = "  # "  # begins a remark behind the check

# check_tensor(L['x'], Tensor, DispatchKeySet(CPU, …), torch.float32, device=None,
#              requires_grad=False, size=[3], stride=[1])
TENSOR_CHECK = re.compile(
    r"check_tensor\(.+?, (\w+), DispatchKeySet\(.*?\), torch\.(\w+), device=\w+, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
# train.py:45 in step (_dynamo/variables/tensor.py:26 in evaluate_expr): torch's place in brackets
# behind the user's.
TORCHS_PLACE = re.compile(r" \((?=_dynamo/|torch/|fx/|user code )")
# /home/me/train.py:45 in step: a file whose name is not only digits, as that of a cell is.
USERS_PLACE = re.compile(r"(?:^|[/\\])([^/\\<>]*[^/\\<>\d][^/\\<>]*\.py:\d+) in ")
# ___from_numpy(L['a']): torch looks at an array as at a tensor.
FROM_NUMPY = re.compile(r"___from_numpy\(([^()]*)\)")
LOCAL_NAME = re.compile(r"L\['(\w+)'\]")  # L['x']
GLOBAL_NAME = re.compile(r"G\['(\w+)'\]")  # G['RATE']
STACK_VALUE = re.compile(r"___stack(\d+)")  # ___stack0
DICT_KEYS = re.compile(r"list\(dict\.keys\(([^()]+)\)\)")  # list(dict.keys(d))

# kind of guard -> a pattern of torch's check, and a sentence with places for the pattern's groups
FORMS_BY_KIND = {
    "GLOBAL_STATE": (".*", "torch's settings (grad mode, …) are unchanged"),
    "TORCH_FUNCTION_MODE_STACK": (".*", "the same function modes are on"),
    "DEFAULT_DEVICE": (".*", "the default device is the same"),
    "ID_MATCH": (".*", "it is the very same object"),
    "TRUE_MATCH": (".*", "it is True"),
    "FALSE_MATCH": (".*", "it is False"),
    "NONE_MATCH": (".*", "it is None"),
    "EQUALS_MATCH": (".+? == (.+)", "it equals {}"),
    "TYPE_MATCH": (r".*type=<class '(?:[\w<>]+\.)*([\w<>]+)'>", "its type is {} itself"),
    TENSOR_MATCH: (TENSOR_CHECK.pattern, "{0} {1} [{3}], stride [{4}], {2}"),
    "NO_TENSOR_ALIASING": (r"check_no_aliasing\((.*)\)", "{} are different objects"),
    "DIMENSION_DYNAMIC_MARKING_GUARD": (
        "(?:[^=;]+ == False(?:; )?)+",
        "none of its sizes is marked dynamic or static",
    ),
}
# The same for a guard of any kind. The first pattern that fits counts.
FORMS_OF_ANY_KIND = (
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

# ------------------------------------------------------------------ one part: check and remarks


def strip_remarks(part: str) -> str:
    """Return the check of a part: `L['n'] == 2  # return x * n` gives `L['n'] == 2`."""
    return part.split(REMARK)[0].strip()


def find_users_line(parts: Sequence[str]) -> str:
    """Return the line of the user's program for which Dynamo made a guard, or "".

    `parts` are torch's texts of the guard. The first remark behind the check is the line, and the
    last remark is the place of the line.
    """
    remarks = [remark.strip() for remark in parts[0].split(REMARK)[1:]]
    # If there is only one remark, or if the place is in torch, torch does not know the user's line.
    if len(remarks) < 2 or remarks[-1].startswith("torch"):
        return ""
    if "_dynamo/" in remarks[0]:
        return ""
    return remove_ids(remarks[0])


def find_users_place(parts: Sequence[str]) -> str:
    """Return the file and line for which Dynamo made a guard, such as `train.py:45`.

    Return "" for a cell of a notebook, and where torch's text names no place.
    """
    _, _, last_remark = parts[0].rpartition(REMARK)
    users_part = TORCHS_PLACE.split(last_remark)[0]
    match = USERS_PLACE.search(users_part)
    return match[1] if match else ""


# ------------------------------------------------------------------ plain words


def describe_guard(kind: str, parts: Sequence[str]) -> str:
    """Return what a guard asks for in plain words, such as `it equals 2`.

    `kind` is torch's name for the kind of guard, and `parts` are torch's texts of the guard. A text
    of a form that is not known here is quoted.
    """
    text = "; ".join(strip_remarks(part) for part in parts)
    if kind in LENGTH_KINDS and text.startswith("not "):  # `not L['d']` means an empty dict
        return "its length is 0"

    forms = FORMS_OF_ANY_KIND
    if kind in FORMS_BY_KIND:
        forms = (FORMS_BY_KIND[kind], *forms)
    for pattern, sentence in forms:
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match:
            return sentence.format(*_format_groups(kind, match.groups()))
    return f"{QUOTE}{remove_ids(text)}"


def _format_groups(kind: str, groups: tuple[str, ...]) -> list[str]:
    """Return the groups of a pattern that matched a guard's text, as a learner would write them."""
    if kind == "NO_TENSOR_ALIASING":
        return [format_source(source) for source in groups]
    texts = [remove_ids(text) for text in groups]
    if kind == TENSOR_MATCH:
        # The groups of TENSOR_CHECK are class, dtype, requires_grad, sizes and strides. Torch
        # writes None for a size or a stride that may vary.
        texts = [text.replace("None", "any") for text in texts]
        texts[2] = "requires grad" if texts[2] == "True" else "no grad"
    return texts


def quote_torch(text: str) -> str:
    """Return torch's text of a guard without remarks, after the words "torch's own words"."""
    return f"{QUOTE}{format_source(strip_remarks(text))}"


def format_source(source: str) -> str:
    """Return a source as the function names the value.

    `L['x']` gives `x`, `L['options']['on']` gives `options['on']`, and `G['K']` gives `global K`.
    """
    text = LOCAL_NAME.sub(r"\1", remove_ids(source))
    text = STACK_VALUE.sub(r"value \1 on the stack", text)
    text = DICT_KEYS.sub(r"list(\1)", text)
    return GLOBAL_NAME.sub(r"global \1", text)


def remove_ids(text: str) -> str:
    """Return torch's text on one line, without ids, addresses and names that Dynamo generated."""
    text = IMPORTED.sub(_name_module, clean_message(text))
    text = FROM_NUMPY.sub(r"\1", text)
    text = text.replace("G['builtins']", "builtins")
    return " ".join(text.split())


def _name_module(match: re.Match) -> str:
    """Return `torch.nn` for a match of `G['__import_torch_dot_nn']`, a global that Dynamo added."""
    return match[1].replace("_dot_", ".")


def find_required_type(check: str, value: object) -> str:
    """Return the type that an equality guard asks for, if the type is why the guard fails; else "".

    The guard `L['n'] == 2` also requires an int, which its text does not say. It fails for 2.0,
    though 2.0 == 2. In such a case, `int` is returned.

    Parameters
    ----------
    check : str
        The guard's check, such as `L['n'] == 2`.
    value : object
        The value in this call.
    """
    try:
        # the right side of the check, if it is a literal
        constant = ast.literal_eval(check.partition(" == ")[2])
    except (ValueError, SyntaxError):
        return ""
    if type(value) is type(constant):
        return ""
    if _can_be_equal(constant, value):
        return real_type_name(constant)
    return ""


def _can_be_equal(constant: object, value: object) -> bool:
    """Return whether a value may be equal to a constant of another type.

    No `__eq__` of the user's runs. Numbers are compared, and for other types it counts whether the
    value is of a subclass of the constant's type.
    """
    if is_exactly(value, bool, int, float) and is_exactly(constant, bool, int, float):
        return constant == value
    return real_isinstance(value, type(constant))
