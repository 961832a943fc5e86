"""Private functions and classes of torch, such as `torch_private.reset_code`, looked up by name.

Torch may move or remove any of these names in any release. `describe_missing` says in a sentence
which names this torch lacks. Torch is imported at the first look-up, not before.
"""

import importlib
import pkgutil
from importlib.util import find_spec
from types import ModuleType

from ..safety import restoring
from ..safety.missing_parts import (
    MissingPart,
    describe_cure,
    describe_missing_part,
    describe_unusable_framework,
)

TRIED = "torch 2.11 to 2.15"
LATE = (
    "Restart the kernel and run `import torch._dynamo` before `import tensorflow`, because this "
    "PyTorch loads Triton with Dynamo, and loading Triton after TensorFlow kills the kernel."
)

# The groups of names: group -> torch's module -> the names in it that the course uses. A part of
# the course needs one or two groups. The course writes a torch name without the underscore at its
# beginning. `ours=theirs` gives torch's name `theirs` another name in the course.
_NAMES = {
    "hook": {
        "torch._C._dynamo.eval_frame": "set_eval_frame reset_code set_code_exec_strategy "
        "callback=get_eval_frame_callback",
        "torch._dynamo.types": "ConvertFrameReturn GuardedCode wrap_guarded_code "
        "FrameAction FrameExecStrategy",
        "torch._dynamo.eval_frame": "skip_code",
        "torch._guards": "CompileId compiling=CompileContext.try_get",
    },
    "guards": {
        "torch._C._dynamo.guards": "RootGuardManager GlobalStateGuard",
        "torch._dynamo.guards": "GuardManagerWrapper guard_names=_get_closure_vars "
        "shape_names=SYMPY_INTERP",
        "torch._C": "_dispatch_keys _dispatch_tls_local_include_set "
        "_dispatch_tls_local_exclude_set",
    },
    "state": {
        "torch._C": "_len_torch_function_stack _len_torch_dispatch_stack "
        "_is_any_autocast_enabled _is_tracing",
        "torch._C._functorch": "maybe_current_level",
        "torch._library.simple_registry": "find_torch_dispatch_rule",
        "torch._subclasses.fake_tensor": "FakeTensorMode",
    },
    "cache": {
        "torch._C._dynamo.eval_frame": "_debug_get_cache_entry_list",
        "torch._dynamo.pgo": "get_code_state",
        "torch._dynamo": "convert_frame dynamo_utils=utils",
        "torch._dynamo.utils": "compilations=get_compilation_metrics",
        "torch._dynamo.convert_frame": "input_codes output_codes compile_lock",
        "torch._dynamo.guards": "CheckFunctionManager",
    },
    "tracing": {
        "torch._dynamo.symbolic_convert": "InstructionTranslatorBase",
        "torch._dynamo.output_graph": "OutputGraph",
        "torch._dynamo.convert_frame": "register_bytecode_hook",
        "torch._dynamo.resume_execution": "ContinueExecutionCache",
    },
    "dynamo": {"torch._dynamo": "reset eval_frame config"},
    "backends": {
        "torch._inductor.graph": "GraphLowering",
        "torch._inductor": "inductor_config=config",
        "torch._dynamo.backends.common": "aot_autograd",
        "functorch.compile": "make_boxed_func",
    },
}


def _list_places(group: str) -> dict[str, str]:
    """Return name in the course -> `module:attribute` for each name of a group of `_NAMES`.

    An example is `callback` -> `torch._C._dynamo.eval_frame:get_eval_frame_callback`.
    """
    places = {}
    for module, entries in _NAMES[group].items():
        for entry in entries.split():
            # "callback=get_eval_frame_callback" has two names, and "reset_code" has only torch's.
            own_name, _, torch_name = entry.rpartition("=")
            places[own_name or torch_name.lstrip("_")] = f"{module}:{torch_name}"

    return places


# Group -> the course's name -> `module:attribute`, which `pkgutil.resolve_name` understands.
PLACES = {group: _list_places(group) for group in _NAMES}


def __getattr__(name: str):
    """Return torch's object for a name of `PLACES`.

    Python calls this function for each `torch_private.NAME` that is no global of this module.
    MissingPart if this torch does not have the object.
    """
    for places in PLACES.values():
        if name in places:
            return _find_object(places[name])
    raise AttributeError(f"module {__name__!r} has no name {name!r}; add its place to PLACES")


def describe_missing(*groups: str) -> str:
    """Return in one sentence which names of these groups this torch lacks; "" if it has all.

    `groups` are keys of `_NAMES`. Without an argument, all groups are looked at.
    """
    try:
        _import_torch()
    except MissingPart as error:  # torch itself is missing, and the error says so
        return str(error)

    missing = []
    for group in groups or PLACES:
        for place in PLACES[group].values():
            try:
                _find_object(place)
            except MissingPart:
                missing.append(place.replace(":", "."))
    return _describe_missing_places(missing) if missing else ""


def require_names(*groups: str) -> None:
    """Raise MissingPart with the sentence of `describe_missing` if this torch lacks a name."""
    reason = describe_missing(*groups)
    if reason:
        raise MissingPart(reason)


def refuse_late_dynamo() -> None:
    """Raise MissingPart where importing Dynamo would kill this process.

    Dynamo loads Triton. Triton brings an LLVM of its own, and a process that has loaded
    TensorFlow's LLVM before ends in SIGSEGV.
    """
    is_triton_loaded = restoring.find_loaded_module(
        "torch._dynamo"
    ) or restoring.find_loaded_module("triton")
    if not restoring.find_loaded_module("tensorflow") or is_triton_loaded:
        return
    if find_spec("triton") is not None:  # Triton is installed
        raise MissingPart(LATE)


def _find_object(place: str):
    """Return the object at `module:attribute`; MissingPart if this torch does not have it."""
    _import_torch()
    try:
        return pkgutil.resolve_name(place)
    except (ImportError, AttributeError):
        raise MissingPart(_describe_missing_places([place.replace(":", ".")])) from None


def _import_torch() -> ModuleType:
    """Import torch and return the module; MissingPart if it cannot be imported here."""
    refuse_late_dynamo()
    try:
        return importlib.import_module("torch")
    except Exception as error:  # an installation may be broken in any way
        # `describe_missing_part` has text only for an error on a missing package.
        raise MissingPart(
            describe_missing_part(error) or describe_unusable_framework("torch", error)
        ) from None


def _describe_missing_places(places: list[str]) -> str:
    """Return the sentence that says which dotted names this torch lacks, and what to do."""
    version = _import_torch().__version__
    names = ", ".join(places)
    return (
        f"torch {version} does not have {names}, which this needs; it was tried on {TRIED}: "
        f"{describe_cure('torch')}"
    )
