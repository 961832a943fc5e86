"""A guard that fails -> what differs, such as value `n`, which is `3`, and `it equals 2` must hold.

Torch gives only the text of the guard. What the value is instead is read from the call.
"""

import re
from dataclasses import dataclass
from itertools import combinations

from ..text import tensors
from ..text.value import short_repr
from .guard_leaves import LeafGuard, evaluate_part
from .guard_words import (
    TENSOR_CHECK,
    TENSOR_MATCH,
    find_required_type,
    format_source,
    quote_torch,
    strip_remarks,
)
from .lookup import MISSING
from .setting_differences import ChangedSetting, list_changed_settings
from .tensor_differences import TensorDifferences, compare_tensor
from .value_words import describe_value

# kind of guard on the state of torch -> what its failure means
FAILURES_BY_KIND = {
    "TORCH_FUNCTION_MODE_STACK": "the torch function modes that are on have changed",
    "DEFAULT_DEVICE": "the default device has changed",
    "DUAL_LEVEL_MATCH": "forward-mode autograd's level has changed",
}
# what such a guard asks for, in words -> what its failure means
FAILURES_BY_CHECKS = {
    "the same hooks on saved tensors are on": "the hooks on saved tensors have changed",
    "no transform of torch.func (vmap, grad, …) is on": "a transform of torch.func is on",
    "the same transforms of torch.func are on": "the transforms of torch.func have changed",
}
SHARED_TENSOR = "two of them are one tensor"
# check_no_aliasing(L['x'], L['y'])
NO_ALIASING = re.compile(r"check_no_aliasing\((.*)\)")
# L['x'], G['RATE'], L['d']['k'].shape
SOURCE = r"[LG]\['\w+'\](?:\.\w+\b(?!\()|\[[^]]*\])*"
# L['x'].size()[0], L['n'], ___from_numpy(L['a']).stride()[1]
SIZE_OR_NUMBER = re.compile(
    rf"(?:___from_numpy\({SOURCE}\)|{SOURCE})"
    r"(?:\.(?:size|stride)\(\)\[\d+\]|\.storage_offset\(\))?"
)


@dataclass(frozen=True)
class TorchsReason:
    """What torch says of the guard that fails first. For other guards, both fields are ""."""

    #: torch's text of the check that fails, such as `L['n'] == 2  # return x * n`, or a sentence
    part: str = ""
    #: for a tensor what differs, such as `dtype mismatch. expected Float, actual Double`
    mismatch: str = ""


@dataclass(frozen=True)
class ValueDifference:
    """One thing that differs from what a guard asks for."""

    #: what differs, as the function names it: `x`, or a setting; "" for several values
    source: str
    #: what it is, such as `3` or `of length 1`; "" where `checks` says it
    value: str
    #: what must hold, such as `it equals 2`
    checks: str


def list_differences(leaf: LeafGuard, scope: dict, reason: TorchsReason) -> list[ValueDifference]:
    """Return what differs from what a guard asks for.

    Usually this is one thing. A guard on a tensor or on torch's settings may give several.

    Parameters
    ----------
    leaf : LeafGuard
        A guard that fails.
    scope : dict
        `L` and `G`, the locals and globals of the call.
    reason : TorchsReason
        What torch says of this guard.
    """
    checks = leaf.to_record(1).checks  # what must hold; the number of the entry does not matter
    part = reason.part if reason.part in leaf.parts else leaf.parts[0]
    if leaf.kind == "NO_TENSOR_ALIASING":  # several arguments must be different tensors
        value = describe_shared_tensor(part, scope) or SHARED_TENSOR
        return [ValueDifference(source="", value=value, checks=checks)]
    if leaf.kind == "OBJECT_ALIASING":  # two values must be the same object
        return [_build_identity_difference(part)]
    if leaf.kind == "GLOBAL_STATE":  # settings of torch, such as grad mode
        return _list_setting_differences(leaf, reason)
    # The source `L` means all locals. Such a guard is about the state of torch, not about a value.
    if leaf.source == "L" or leaf.kind in FAILURES_BY_KIND:
        value = FAILURES_BY_KIND.get(leaf.kind) or FAILURES_BY_CHECKS.get(checks) or ""
        return [ValueDifference(source="", value=value, checks=checks)]
    if leaf.kind == TENSOR_MATCH:
        return _list_tensor_differences(leaf, scope, reason, checks)
    return [_build_value_difference(leaf, scope, part, checks)]


def describe_shared_tensor(part: str, scope: dict) -> str:
    """Return `x and y are one tensor` for a guard that forbids that; "" if no two are the same.

    `part` is torch's text of the guard, such as `check_no_aliasing(L['x'], L['y'])`.
    """
    match = NO_ALIASING.search(strip_remarks(part))
    if not match:
        return ""
    values = [(source, evaluate_part(source, scope)) for source in match[1].split(", ")]
    for (source, value), (other_source, other_value) in combinations(values, 2):
        if value is other_value and value is not MISSING:
            return f"{format_source(source)} and {format_source(other_source)} are one tensor"
    return ""


def describe_sizes(part: str, scope: dict) -> str:
    """Return what the sizes and numbers in a check are in this call: `x.size()[0] is 3, n is 2`.

    `part` is torch's text of the check, such as `L['x'].size()[0] == L['n']`.
    """
    texts = []
    for source in dict.fromkeys(SIZE_OR_NUMBER.findall(strip_remarks(part))):
        value = evaluate_part(source, scope)
        if value is not MISSING:
            texts.append(f"{format_source(source)} is {short_repr(value)}")
    return ", ".join(texts)


def _build_identity_difference(part: str) -> ValueDifference:
    """Return the difference for a failing guard such as `L['x'] is L['y']`."""
    checks = format_source(strip_remarks(part))
    value = checks.replace(" is ", " is another object than ", 1)
    return ValueDifference(source="", value=value, checks=checks)


def _list_setting_differences(leaf: LeafGuard, reason: TorchsReason) -> list[ValueDifference]:
    """Return the settings of torch that differ from what a guard on its global state requires.

    If none can be found, the only item quotes torch's own text.
    """
    changes = list_changed_settings(leaf.parts[0], reason.part)
    if changes:
        return [_build_setting_difference(change) for change in changes]
    return [ValueDifference(source="", value="", checks=quote_torch(reason.part))]


def _build_setting_difference(change: ChangedSetting) -> ValueDifference:
    """Return the difference for a changed setting, such as `grad mode`, `off`, `it is on`."""
    return ValueDifference(source=change.name, value=change.now, checks=f"it is {change.expected}")


def _list_tensor_differences(
    leaf: LeafGuard, scope: dict, reason: TorchsReason, checks: str
) -> list[ValueDifference]:
    """Return what differs from a guard on a tensor.

    First come settings of torch because of which the tensor differs, then the tensor itself.
    `checks` says in plain words what must hold. It is shown if the value is no tensor.
    """
    value = evaluate_part(leaf.source, scope)
    check = strip_remarks(leaf.parts[0])
    comparison = TensorDifferences()  # empty, for a value that cannot be compared in detail
    if tensors.is_torch_tensor(value) and TENSOR_CHECK.match(check):
        comparison = compare_tensor(check, value, reason.mismatch)

    differences = [_build_setting_difference(change) for change in comparison.settings]
    source = format_source(leaf.source)
    if comparison.sentences:
        sentences = "; ".join(comparison.sentences)
        differences.append(ValueDifference(source=source, value="", checks=sentences))
    elif not comparison.settings and not comparison.is_only_autocast:
        description = "" if value is MISSING else describe_value(leaf.kind, value, checks)
        differences.append(ValueDifference(source=source, value=description, checks=checks))
    # Otherwise settings are all that differs. Another guard tells of autocast.
    return differences


def _build_value_difference(
    leaf: LeafGuard, scope: dict, part: str, checks: str
) -> ValueDifference:
    """Return the difference for a failing guard on one value that is no tensor.

    `part` is torch's text of the guard, and `checks` says in plain words what must hold.
    """
    value = evaluate_part(leaf.source, scope)
    if leaf.kind == "EQUALS_MATCH":
        # `L['n'] == 2` fails for 2.0 as well, because the guard also checks the type.
        required_type = find_required_type(strip_remarks(part), value)
        if required_type:
            checks += f" and is of type {required_type}"
    description = "" if value is MISSING else describe_value(leaf.kind, value, checks)
    return ValueDifference(source=format_source(leaf.source), value=description, checks=checks)
