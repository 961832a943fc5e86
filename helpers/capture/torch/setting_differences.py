"""A guard on torch's global state -> the settings that are different now, such as grad mode.

Torch writes the state that it expects as JSON: `… against {"grad_mode": true, …}`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...internals import dynamo_settings
from .guard_words import strip_remarks

# a key of torch's GlobalStateGuard -> its name for a learner
SETTING_NAMES = {
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
# torch's number for a dtype (c10/core/ScalarType.h) -> its name
DTYPE_NAMES = {
    5: "float16",
    6: "float32",
    7: "float64",
    8: "complex32",
    9: "complex64",
    15: "bfloat16",
}
# autocast(cpu)_enabled: how torch names an autocast setting that has changed
AUTOCAST_ENABLED = re.compile(r"autocast\((\w+)\)_enabled")
AUTOCAST_DTYPE = re.compile(r"autocast\((\w+)\)_dtype")


@dataclass(frozen=True)
class ChangedSetting:
    """A setting of torch that is not as it was when a cache entry was compiled."""

    #: its name for a learner, such as `grad mode`
    name: str
    #: its value now, such as `off`
    now: str
    #: the value that the guard asks for, such as `on`
    expected: str


def list_changed_settings(part: str, reason: str = "") -> list[ChangedSetting]:
    """Return each setting of torch that a guard on the global state finds changed.

    The list is empty if this version of torch writes its state in another way.

    Parameters
    ----------
    part : str
        The text of the guard.
    reason : str
        Torch's sentence on why the guard fails. It names the devices whose autocast has changed,
        which the JSON does not.
    """
    try:
        # `part` is `… against {"grad_mode": true, …}`
        expected = json.loads(strip_remarks(part).partition(" against ")[2])
        now = json.loads(dynamo_settings.read_global_state())
        changes = _list_changed_autocast(
            expected=expected.pop("autocast_state"),
            now=now.pop("autocast_state"),
            enabled_devices=AUTOCAST_ENABLED.findall(reason),
            dtype_devices=AUTOCAST_DTYPE.findall(reason),
        )
    except Exception:  # torch does not document this text, so another version may differ
        return []

    for key, expected_value in expected.items():
        if now.get(key) != expected_value:
            change = ChangedSetting(
                name=SETTING_NAMES.get(key, key),
                now=_format_setting(key, now.get(key)),
                expected=_format_setting(key, expected_value),
            )
            changes.append(change)
    return changes


def _format_setting(key: str, value: object) -> str:
    """Return the value of a setting as text: "on", "off", the name of a dtype, or a number.

    `key` is torch's name for the setting.
    """
    if key == "default_dtype":
        return _format_dtype(value)
    if type(value) is bool:
        return "on" if value else "off"
    return str(value)


def _format_dtype(number: object) -> str:
    """Return the name of a dtype, such as `float32`, for torch's number of it."""
    return DTYPE_NAMES.get(number, f"torch's number {number}")


def _list_changed_autocast(
    expected: dict, now: dict, enabled_devices: Sequence[str], dtype_devices: Sequence[str]
) -> list[ChangedSetting]:
    """Return the settings of autocast that differ between two states.

    Parameters
    ----------
    expected, now : dict
        The state that the guard asks for, and the present one. Both have three items: `enabled` and
        `dtype` are lists with an item for each device, and `cached_enabled` is a bool. The lists do
        not name the devices.
    enabled_devices, dtype_devices : sequence of str
        The names of the devices whose `enabled` or `dtype` torch reports as changed, in the order
        of the lists.
    """
    enabled_indices = _find_differences(expected["enabled"], now["enabled"])
    # Torch does not compare the dtype of a device for which autocast was off.
    dtype_indices = [
        index
        for index in _find_differences(expected["dtype"], now["dtype"])
        if expected["enabled"][index]
    ]

    names_by_index = _name_devices(enabled_indices, enabled_devices)
    changes = []
    for index in enabled_indices:
        device = names_by_index.get(index, f"device number {index}")
        change = ChangedSetting(
            name=f"autocast ({device})",
            now=_format_setting("enabled", now["enabled"][index]),
            expected=_format_setting("enabled", expected["enabled"][index]),
        )
        changes.append(change)

    # A device may get its name from either list.
    names_by_index |= _name_devices(dtype_indices, dtype_devices)
    for index in dtype_indices:
        device = names_by_index.get(index, f"device number {index}")
        change = ChangedSetting(
            name=f"the dtype of autocast ({device})",
            now=_format_dtype(now["dtype"][index]),
            expected=_format_dtype(expected["dtype"][index]),
        )
        changes.append(change)

    if expected.get("cached_enabled") != now.get("cached_enabled"):
        change = ChangedSetting(
            name="the cache of autocast",
            now=_format_setting("enabled", now.get("cached_enabled")),
            expected=_format_setting("enabled", expected.get("cached_enabled")),
        )
        changes.append(change)
    return changes


def _find_differences(expected: list, now: list) -> list[int]:
    """Return the indices at which two lists of one length differ."""
    pairs = zip(expected, now, strict=True)
    return [index for index, (before, after) in enumerate(pairs) if before != after]


def _name_devices(indices: list[int], devices: Sequence[str]) -> dict[int, str]:
    """Return index -> name of the device, where both lists are in the same order.

    The dict is empty if the lists have different lengths, because then no name is certain.
    """
    if len(devices) != len(indices):
        return {}
    return dict(zip(indices, devices, strict=True))
