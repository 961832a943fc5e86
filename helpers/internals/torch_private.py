"""The names that torch keeps to itself, looked up by this one module: `torch_private.reset_code`.

Torch may move or drop any of them in any release: `missing()` says in a sentence what is not
there. Torch is imported at the first look-up, not before.
"""

import importlib
import logging
import pkgutil
import re
import sys
import threading
from collections import Counter
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from types import CodeType, FunctionType, MethodType

from ..safety import restoring
from ..safety.arguments import static_attribute
from ..safety.missing_parts import MissingPart, cure, sentence, unusable
from ..safety.restoring import patched
from ..safety.users_frames import is_library, users_frame

TRIED = "torch 2.11 to 2.15"
LATE = "Restart the kernel and run `import torch._dynamo` before `import tensorflow`, because this "
LATE += "PyTorch loads Triton with Dynamo, and loading Triton after TensorFlow kills the kernel."


def _places(module: str, names: str, **others: str) -> dict[str, str]:
    """Return name -> module:attribute; a name has no underscore before it, or is another."""
    found = {name.lstrip("_"): name for name in names.split()} | others
    return {name: f"{module}:{attribute}" for name, attribute in found.items()}


# group -> name -> module:attribute; a part of this course needs one or two groups, seldom all.
PLACES = {
    "hook": _places(
        "torch._C._dynamo.eval_frame", "set_eval_frame reset_code set_code_exec_strategy"
    )
    | _places("torch._C._dynamo.eval_frame", "", callback="get_eval_frame_callback")
    | _places("torch._dynamo.types", "ConvertFrameReturn GuardedCode wrap_guarded_code")
    | _places("torch._dynamo.types", "FrameAction FrameExecStrategy")
    | _places("torch._dynamo.eval_frame", "skip_code")
    | _places("torch._guards", "CompileId", compiling="CompileContext.try_get"),
    "guards": _places("torch._C._dynamo.guards", "RootGuardManager GlobalStateGuard")
    | _places("torch._dynamo.guards", "GuardManagerWrapper", guard_names="_get_closure_vars")
    | _places("torch._dynamo.guards", "", shape_names="SYMPY_INTERP")
    | _places("torch._C", "_dispatch_keys")
    | _places("torch._C", "_dispatch_tls_local_include_set _dispatch_tls_local_exclude_set"),
    "state": _places("torch._C", "_len_torch_function_stack _len_torch_dispatch_stack")
    | _places("torch._C", "_is_any_autocast_enabled _is_tracing")
    | _places("torch._C._functorch", "maybe_current_level")
    | _places("torch._library.simple_registry", "find_torch_dispatch_rule")
    | _places("torch._subclasses.fake_tensor", "FakeTensorMode"),
    "cache": _places("torch._C._dynamo.eval_frame", "_debug_get_cache_entry_list")
    | _places("torch._dynamo.pgo", "get_code_state")
    | _places("torch._dynamo", "convert_frame", dynamo_utils="utils")
    | _places("torch._dynamo.utils", "", compilations="get_compilation_metrics")
    | _places("torch._dynamo.convert_frame", "input_codes output_codes compile_lock")
    | _places("torch._dynamo.guards", "CheckFunctionManager"),
    "tracing": _places("torch._dynamo.symbolic_convert", "InstructionTranslatorBase")
    | _places("torch._dynamo.output_graph", "OutputGraph")
    | _places("torch._dynamo.convert_frame", "register_bytecode_hook")
    | _places("torch._dynamo.resume_execution", "ContinueExecutionCache"),
    "dynamo": _places("torch._dynamo", "reset eval_frame config"),
    "backends": _places("torch._inductor.graph", "GraphLowering")
    | _places("torch._inductor", "", inductor_config="config")
    | _places("torch._dynamo.backends.common", "aot_autograd")
    | _places("functorch.compile", "make_boxed_func"),
}


def __getattr__(name: str):
    """Return the object behind a name of `PLACES`; RuntimeError, in one sentence, if it is gone."""
    for group in PLACES.values():
        if name in group:
            return _find(group[name])
    raise AttributeError(f"module {__name__!r} has no name {name!r}; add its place to PLACES")


def missing(*groups: str) -> str:
    """Say in one sentence what this torch lacks of these groups; of all if none is named."""
    try:
        _import_torch()
    except MissingPart as error:
        return str(error)
    places = [place for group in groups or PLACES for place in PLACES[group].values()]
    lost = []
    for place in places:
        try:
            _find(place)
        except MissingPart:
            lost.append(place.replace(":", "."))
    return _lacks(lost) if lost else ""


def needed(*groups: str) -> None:
    """Raise MissingPart with the sentence of `missing(*groups)` if there is one."""
    if lost := missing(*groups):
        raise MissingPart(lost)


def refuse_late_dynamo() -> None:
    """Raise MissingPart where importing Dynamo would kill this process.

    It loads Triton, whose LLVM, loaded after TensorFlow's, ends in SIGSEGV.
    """
    there = restoring.module("torch._dynamo") or restoring.module("triton")
    if restoring.module("tensorflow") and not there and find_spec("triton") is not None:
        raise MissingPart(LATE)


def _find(place: str):
    _import_torch()
    try:
        return pkgutil.resolve_name(place)
    except (ImportError, AttributeError):
        raise MissingPart(_lacks([place.replace(":", ".")])) from None


def _import_torch():
    refuse_late_dynamo()
    try:
        return importlib.import_module("torch")
    except Exception as error:  # an installation may be broken in any way
        raise MissingPart(sentence(error) or unusable("torch", error)) from None


def _lacks(lost: list[str]) -> str:
    version, names = _import_torch().__version__, ", ".join(lost)
    told = f"torch {version} does not have {names}, which this needs; it was tried on"
    return f"{told} {TRIED}: {cure('torch')}"


def skipped():
    """Return what a callback answers for "run this frame as it is, now and for good"."""
    return __getattr__("ConvertFrameReturn")(apply_to_code=False)


def replaced(code: CodeType, root):
    """Return what a callback answers for "run `code` instead, as long as these guards hold"."""
    names = ("CompileId", "GuardManagerWrapper", "GuardedCode", "wrap_guarded_code")
    compile_id, wrapper, guarded, wrap = map(__getattr__, names)
    return wrap(guarded(code, wrapper(root), compile_id(frame_id=0, frame_compile_id=0)))


def count_one_out() -> None:
    """Have torch count one call less that has its hook on; at none, its hook comes off.

    A callback removed in a frame that runs only compiled code is counted out twice.
    """
    names = ("set_eval_frame", "FrameAction", "FrameExecStrategy", "ConvertFrameReturn")
    set_eval_frame, action, strategy, answer = map(__getattr__, names)
    run = strategy(action.SKIP, action.RUN_ONLY)
    returned = answer(frame_exec_strategy=run, apply_to_code=False)

    def leaving():
        set_eval_frame(None)

    set_eval_frame(lambda frame, *rest: returned)
    leaving()
    set_eval_frame(None)


def frame_callback():
    """Return what torch asks before it evaluates a frame; None without Dynamo."""
    door = restoring.module("torch._C._dynamo.eval_frame")
    return door.get_eval_frame_callback() if door else None


def modes() -> tuple[list, list]:
    """Return torch's dispatch modes and its function modes that are on in this thread."""
    dispatch = restoring.module("torch.utils._python_dispatch")
    functions = restoring.module("torch.overrides")
    return (
        dispatch._get_current_dispatch_mode_stack() if dispatch else [],
        functions._get_current_function_mode_stack() if functions else [],
    )


def _autocast() -> list[str]:
    torch = restoring.module("torch")
    kinds = [kind for kind in ("cpu", "cuda", "mps", "xpu") if torch.is_autocast_enabled(kind)]
    return [f"{kind} to {str(torch.get_autocast_dtype(kind))[6:]}" for kind in kinds]


def _autograd() -> list[str]:
    torch = restoring.module("torch")
    states = {
        "inference mode": torch.is_inference_mode_enabled(),
        "no_grad": not (torch.is_grad_enabled() or torch.is_inference_mode_enabled()),
        "anomaly detection": torch.is_anomaly_enabled(),
        "saved tensors hooks": torch._C._autograd._top_saved_tensors_default_hooks(True)
        is not None,
    }
    return [name for name, is_on in states.items() if is_on]


def _functorch_layers() -> list[str]:
    functorch = restoring.module("torch._C._functorch")
    layers = functorch.get_interpreter_stack() if functorch else None
    return [layer.key().name.lower() for layer in layers or ()]


def _module_hooks() -> list:
    home = restoring.module("torch.nn.modules.module")
    tables = [vars(home)[name] for name in vars(home) if name.startswith("_global_")]
    hooks = [hook for table in tables if isinstance(table, dict) for hook in table.values()]
    return [hook for hook in hooks if callable(hook)]


def _settings() -> list[str]:
    torch, devices = restoring.module("torch"), restoring.module("torch.utils._device")
    device = getattr(devices, "CURRENT_DEVICE", None)
    found = ["deterministic algorithms"] * torch.are_deterministic_algorithms_enabled()
    return [*found, *[f"default device {device}"] * (device is not None)]


def _compiling() -> list[str]:
    found = ["torch.jit is tracing"] * torch_is_tracing()
    if restoring.module("torch._dynamo.eval_frame"):
        found += [f"stance {stance()}"] * (stance() != "default")
        found += ["torch._dynamo.config.disable"] * bool(__getattr__("config").disable)
    return found


def torch_is_tracing() -> bool:
    """Return whether torch.jit.trace is at work."""
    return restoring.module("torch")._C._is_tracing()


# What changes how torch runs a call -> what reads which of it is on in this thread.
MODES = {
    "torch autocast": _autocast,
    "torch autograd modes": _autograd,
    "torch.func layers": _functorch_layers,
    "torch's hooks of all modules": _module_hooks,
    "torch settings": _settings,
    "torch.compile turned off": _compiling,
}


def dispatch_mode(heard, own_code=None):
    """Return a mode that tells `heard(name, inputs, outputs)` of each op that torch dispatches.

    Dynamo leaves its frames alone; with `own_code`, which gets its code, the caller sees to that.
    """
    refuse_late_dynamo()
    from torch.utils._python_dispatch import TorchDispatchMode

    named = {}

    class Watching(TorchDispatchMode):
        supports_higher_order_operators = True  # or torch.cond and its like raise here

        @classmethod
        def ignore_compile_internals(cls):
            return True  # or torch.compile gives the function up, for good

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **kwargs) if kwargs else func(*args)
            if (known := named.get(id(func))) is None:
                known = named[id(func)] = _name_of_op(func), func  # kept: its id is taken
            if known[0]:
                heard(known[0], (*args, *kwargs.values()) if kwargs else args, made)
            return made

    if own_code:
        own_code(Watching.__torch_dispatch__.__code__)
        own_code(_name_of_op.__code__)
    elif dynamo := restoring.module("torch._dynamo"):
        Watching.__torch_dispatch__ = dynamo.disable(Watching.__torch_dispatch__)
    return Watching()


def _name_of_op(op) -> str:
    """Return a name such as aten.mul, or higher_order.cond; "" of what only a profiler asks for."""
    packet = getattr(op, "overloadpacket", None)
    if packet is None:  # it calls functions: what they run is not dispatched to this mode
        return f"higher_order.{getattr(op, '_name', type(op).__name__)}"
    return f"{op.namespace}.{packet.__name__}" if op.namespace != "profiler" else ""


def autograd_now() -> tuple:
    """Return autograd's running node or None, and the number of the newest; -1 if it makes none."""
    if not (torch := restoring.module("torch")):
        return None, -1
    newest = torch.autograd._get_sequence_nr() * torch.is_grad_enabled() - 1
    return torch._C._current_autograd_node(), newest


def cache_entries(code: CodeType) -> list:
    """Return what Dynamo has stored on a code object, what is tried first at the front."""
    entries = __getattr__("debug_get_cache_entry_list")(code)
    return [entry for entry in entries if type(entry.code) is CodeType]  # a dead one has none


def keys_now(tensor) -> str:
    """Return which dispatch keys a tensor has in this thread now, as torch writes them."""
    names = ("dispatch_keys", "dispatch_tls_local_include_set", "dispatch_tls_local_exclude_set")
    keys, added, taken = map(__getattr__, names)
    now = (keys(tensor) | added()) - taken()
    return str(now).removeprefix("DispatchKeySet(")[:-1]


def _told(tell, lost, *facts):
    """Return `tell(*facts)`; an error of ours goes into `lost`, never into a user's call."""
    try:
        return tell(*facts)
    except Exception as error:
        lost.append(error)
        return None


def compiled_calls(heard, lost=None):
    """Tell `heard` in the block of each `fn` whose code of torch.compile is called.

    With `lost`, a list for our errors, it hears (fn, the frame of torch's wrapper, the callback
    that torch uses for this call: none where compiling is turned off, False where it only looks).
    """
    place, name = restoring.module("torch._dynamo.eval_frame"), "_callback_from_stance"
    real = getattr(place, name, None)

    def tell(callback, answer):
        frame = users_frame()  # of torch's wrapper, also where a block around this one listens
        if lost is None:
            heard(frame.f_locals.get("fn", real))
        elif frame.f_code.co_name == "compile_wrapper":
            heard(frame.f_locals.get("fn", real), frame, answer)

    def calling(callback):
        answer = real(callback)
        if callable(callback):  # it is none where compiling is turned off
            _told(tell, [] if lost is None else lost, callback, answer)
        return answer

    return patched(place, **({name: calling} if real else {}))


@contextmanager
def recompile_reasons(explain, lost=None):
    """Collect (code, `explain(entries, frame, reasons, backend)`) of each frame compiled again."""
    name, module = "get_and_maybe_log_recompilation_reasons", __getattr__("convert_frame")
    asked, found = getattr(module, name, None), []

    def ask(entries, frame, backend, *args, **kwargs):
        reasons = asked(entries, frame, backend, *args, **kwargs)
        told = _told(explain, [] if lost is None else lost, entries, frame, reasons, backend)
        found.append((frame.f_code, told or ()))
        return reasons

    with patched(module, **({name: ask} if asked else {})):
        yield found


# What Dynamo calls the names that it adds to a module's globals (torch/_dynamo/output_graph.py:
# `install_global`, symbolic_convert.py: `import_source`), with or without a hook that removes them.
_DYNAMOS = re.compile(
    r"__(compiled_fn|resume_at|builtins_dict|gen_rand_values|warnings_warn_wrapper|comprehension"
    r"|stack|subgraph)_.*|__import_\w+|__compile_source__|_+\w*_c\d+"
)


def names_given_by_dynamo(space: dict, names) -> set[str]:
    """Return those of `names` that Dynamo has added to these globals; () without Dynamo."""
    utils = restoring.module("torch._dynamo.utils")
    if utils is None:
        return set()
    hooks = getattr(getattr(utils, "CleanupManager", None), "instance", None)
    found = {name for name in names if type(name) is str and _DYNAMOS.fullmatch(name)}
    for entry in list(getattr(hooks, "values", {}).values()):
        found |= {hook.name for hook in entry if hook.scope is space}
    return found & set(names)


@contextmanager
def hearing_refusals(heard, lost):
    """Tell `heard(code)` in the block of each frame for which the stance fail_on_recompile raises.

    torch/_dynamo/eval_frame.py asks there, and only there, by a callback of that stance.
    """
    module, name = __getattr__("convert_frame"), "has_tensor_in_frame"
    real = getattr(module, name, None)

    def asking(frame):
        found = real(frame)
        caller = users_frame()
        if found and caller.f_code.co_name == "fail_callback":
            _told(heard, lost, frame.f_code)
        return found

    with patched(module, **({name: asking} if real else {})):
        yield


@contextmanager
def hearing_skips(heard, lost):
    """Tell `heard(code, reason, is_start)` in the block of each frame that Dynamo leaves to Python.

    `is_start`: it is the first frame of a call of a compiled function.
    """
    entrance, name = __getattr__("convert_frame").CatchErrorsWrapper, "_handle_skip"
    real = getattr(entrance, name, None)  # older torch only logs it

    def tell(result, frame):
        if result.skip_reason is not None and result.guarded_code is None:
            caller = users_frame()
            while caller.f_globals.get("__name__") == "torch._dynamo.convert_frame" or (
                caller.f_code is skipping.__code__
            ):
                caller = caller.f_back
            heard(frame.f_code, result.skip_reason, _is_wrapper(caller))

    def skipping(wrapper, result, frame):
        _told(tell, lost, result, frame)
        return real(wrapper, result, frame)

    with patched(entrance, **({name: skipping} if real else {})):
        yield


def wrapper_frame():
    """Return the frame of torch's wrapper in which the innermost compiled call runs, or None."""
    frame = sys._getframe(1)
    while frame is not None and not _is_wrapper(frame):
        frame = frame.f_back
    return frame


def wrapper_frames() -> list:
    """Return the frames of torch's wrapper on this thread's stack, the innermost first."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        if _is_wrapper(frame):
            found.append(frame)
        frame = frame.f_back
    return found


def runs_in_another_thread() -> bool:
    """Return whether another thread is inside a call of a compiled function now."""
    mine = threading.get_ident()
    for thread, frame in sys._current_frames().items():
        while frame is not None and thread != mine:
            if _is_wrapper(frame):
                return True
            frame = frame.f_back
    return False


def _is_wrapper(frame) -> bool:
    if frame.f_code.co_name != "compile_wrapper":
        return False
    return frame.f_globals.get("__name__") == "torch._dynamo.eval_frame"


def global_state() -> str:
    """Return torch's settings that each cache entry guards, as it writes them: JSON."""
    return __getattr__("GlobalStateGuard")().__getstate__()


@contextmanager
def own_sizes(code: CodeType, sizes: dict):
    """Have Dynamo know `sizes` of this function in the block, and what it knew of it after that.

    A copy of a function has the key of the function itself.
    """
    state = __getattr__("get_code_state")()
    before = {key: state.pop(key) for key in _size_keys(state, code)}
    state.update(sizes)
    try:
        yield
    finally:
        sizes.clear()
        sizes.update({key: state.pop(key) for key in _size_keys(state, code)})
        state.update(before)


def _size_keys(state, code: CodeType) -> list:
    resumed, place = f"torch_dynamo_resume_in_{code.co_name}_at_", code.co_firstlineno
    return [
        key
        for key in state
        if key.filename == code.co_filename
        and ((key.firstlineno, key.name) == (place, code.co_name) or key.name.startswith(resumed))
    ]


@contextmanager
def same_settings():
    """Put Dynamo's settings back at the end that somebody changed inside."""
    config = __getattr__("config")
    before = config.get_config_copy()
    try:
        yield
    finally:
        for name, value in config.get_config_copy().items():
            if name in before and value != before[name]:
                setattr(config, name, before[name])


def stance() -> str:
    """Return what `torch.compiler.set_stance` has set."""
    return __getattr__("eval_frame")._stance.stance


def compiling_nothing():
    """Return a block in which compiled functions run as plain Python, and stay as they are."""
    home = __getattr__("eval_frame")
    eagerly = type(home._stance)("force_eager")
    return patched(home, _stance=eagerly)


def without_monitor():
    """Return a block in which a progress bar starts no thread that watches over all bars.

    Torch's interpreter of FX graphs shows such bars (torch/fx/interpreter.py); the thread, which
    tqdm starts for the first of a process, would outlive the block.
    """
    tqdm = getattr(restoring.module("tqdm"), "tqdm", None)
    return nullcontext() if tqdm is None else patched(tqdm, monitor_interval=0)


@contextmanager
def unmarked(module):
    """Take the attribute off a module at the end that `torch.compile` puts on it in the block."""
    attributes, mark = getattr(module, "__dict__", {}), "_is_torch_compile"
    was_there = mark in attributes
    try:
        yield
    finally:
        if not was_there:
            attributes.pop(mark, None)


def unsupported_messages() -> Counter[str]:
    """Return what Dynamo could not compile so far, and how often, as it counts it."""
    return Counter(__getattr__("dynamo_utils").counters["unimplemented"])


def turned_off() -> str:
    """Return the setting that keeps Dynamo from compiling anything new now; "" if there is none."""
    if __getattr__("config").disable:
        return "torch._dynamo.config.disable"
    if (now := stance()) in ("force_eager", "eager_on_recompile", "fail_on_recompile"):
        return f'torch.compiler.set_stance("{now}")'
    return ""


def is_disabled(fn) -> bool:
    """Return whether a function comes from `torch.compiler.disable`."""
    return static_attribute(fn, "_torchdynamo_disable") is True


def inner_function(fn):
    """Return what `torch.compile` was given, as torch does itself; anything else as given."""
    module = getattr(restoring.module("torch._dynamo.eval_frame"), "OptimizedModule", None)
    if type(fn) is MethodType:
        function = inner_function(fn.__func__)
        return fn if function is fn.__func__ else MethodType(function, fn.__self__)
    if type(fn) is not FunctionType:
        return fn._orig_mod if type(fn) is module else fn
    fn = fn.__dict__.get("_torchdynamo_orig_callable", fn)
    around = type(fn) is FunctionType and is_wrapper_code(fn.__code__)
    return fn.__wrapped__ if around else fn  # what Dynamo cannot start with, torch wraps first


def is_module_call(fn) -> bool:
    """Return whether it is what `module.compile()` compiles: the module's own `_call_impl`."""
    home = restoring.module("torch.nn.modules.module")
    return type(fn) is MethodType and fn.__func__ is getattr(home.Module, "_call_impl", None)


def is_compiled(fn) -> bool:
    """Return whether it comes from `torch.compile`, or is a module compiled in its place."""
    return inner_function(fn) is not fn or static_attribute(fn, "_compiled_call_impl") is not None


def resumed_from(code: CodeType) -> CodeType:
    """Return the code that Dynamo made a resume function's from; that of any other as given."""
    made = __getattr__("ContinueExecutionCache").generated_code_metadata.get(code)
    return code if made is None else made.code


@contextmanager
def hearing_compilations(heard, lost=None):
    """Tell `heard` what Dynamo notes of each frame that it has compiled, in any thread."""
    utils, name = __getattr__("dynamo_utils"), "add_compilation_metrics_to_chromium"
    real = getattr(utils, name)  # torch calls it last, for every entry of `compilations()`

    def noting(metrics):
        _told(heard, [] if lost is None else lost, metrics)
        return real(metrics)

    with patched(utils, **{name: noting}):
        yield


@contextmanager
def hearing_lookups(heard, lost):
    """Call `heard(hit)` for each frame whose cache entries are asked; yield whether it can be."""
    door, name = restoring.module("torch._C._dynamo.eval_frame"), "set_guard_complete_hook"
    switch = getattr(door, name, None)
    if switch is None:
        yield False
        return

    def asked(hit):
        hit = before(hit) if before else hit
        _told(heard, lost, hit)
        return hit

    before = switch(asked)
    try:
        yield True
    finally:
        switch(before)


def compiling_now() -> tuple[dict, object]:
    """Return the locals of `_compile` for the frame being compiled, and the user's own frame."""
    frame, inside, entered = sys._getframe(1), {}, False
    while frame is not None and not (entered and not is_library(frame.f_code.co_filename)):
        place = frame.f_globals.get("__name__"), frame.f_code.co_name
        if place == ("torch._dynamo.convert_frame", "_compile"):
            inside = inside or frame.f_locals
        entered = entered or _is_wrapper(frame)
        frame = frame.f_back
    return inside, frame if entered else None


def wrapper_around(compiled):
    """Return the wrapper that torch put around what Dynamo cannot start with, or None."""
    module = getattr(restoring.module("torch._dynamo.eval_frame"), "OptimizedModule", None)
    compiled = compiled.forward if type(compiled) is module else compiled
    inner = getattr(compiled, "__dict__", {}).get("_torchdynamo_orig_callable")
    return inner if type(inner) is FunctionType and is_wrapper_code(inner.__code__) else None


def is_wrapper_code(code: CodeType) -> bool:
    """Return whether it is of the wrapper that torch puts around what Dynamo cannot start with."""
    return getattr(code, "co_qualname", "") == "wrap_inline.<locals>.inner"


_LISTS_ASIDE: list = []  # of code objects that Dynamo met, while a block has a list of its own


def codes_met() -> list[CodeType]:
    """Return the code objects that Dynamo has met, and that are still there."""
    trackers = [*_LISTS_ASIDE, __getattr__("input_codes")]
    met = (code for tracker in trackers for one in tracker.seen if (code := one()))
    return [*{id(code): code for code in met}.values()]


def codes_aside() -> list[CodeType]:
    """Return those of `codes_met` that `torch._dynamo.reset` does not reach now."""
    own = {id(code) for one in __getattr__("input_codes").seen if (code := one())}
    return [code for code in codes_met() if id(code) not in own]


@contextmanager
def own_lists_of_codes():
    """Have Dynamo note the code objects that it meets and makes in lists of the block's own.

    `torch._dynamo.reset` empties the caches of code objects in these lists. So a code object that
    Dynamo met before gets into none of them.
    """
    home, names = __getattr__("convert_frame"), ("input_codes", "output_codes")
    earlier = {name: getattr(home, name) for name in names}
    own = {name: type(earlier[name])() for name in names}
    met, add = own["input_codes"], own["input_codes"].add
    met.add = lambda code: None if any(code in one for one in _LISTS_ASIDE) else add(code)
    _LISTS_ASIDE.append(earlier["input_codes"])
    try:
        with patched(home, **own):
            yield
    finally:
        _LISTS_ASIDE.remove(earlier["input_codes"])
        for tracker in own.values():
            tracker.clear()  # or its references call back when nothing else of it is left


@contextmanager
def translating(watcher):
    """Tell `watcher` of every step of Dynamo's translation in the block.

    It hears `before(tx)` and `after(tx, error)` around each instruction, `broken(error)` when
    Dynamo has found what breaks the graph, `cut(tx, reason)` when a graph is about to end,
    `given(graph)` when the backend gets one, `rewritten(old, new)` of each new code,
    `passed(frame, reason)` of each frame left to Python. What it raises goes into the list given.
    """
    translator, output = __getattr__("InstructionTranslatorBase"), __getattr__("OutputGraph")
    step, log_break, cut = translator.step, translator.log_graph_break, output.compile_subgraph
    call_backend = output.call_user_compiler
    lost = []

    def tell(told, *facts):
        try:
            told(*facts)
        except Exception as error:
            lost.append(error)

    def watched_step(tx):
        tell(watcher.before, tx)
        try:
            more = step(tx)
        except BaseException as error:
            tell(watcher.after, tx, error)
            raise
        tell(watcher.after, tx, None)
        return more

    def watched_cut(output, *args, **kwargs):
        given = dict(zip(("tx", "reason"), args, strict=False)) | kwargs
        tell(watcher.cut, given.get("tx"), given.get("reason"))
        return cut(output, *args, **kwargs)

    def watched_backend(output, graph, *args, **kwargs):
        tell(watcher.given, graph)
        return call_backend(output, graph, *args, **kwargs)

    def watched_break(tx, *args, exc=None, **kwargs):
        tell(watcher.broken, exc)
        return log_break(tx, *args, exc=exc, **kwargs)

    entrance = __getattr__("convert_frame").CatchErrorsWrapper
    skip = getattr(entrance, "_handle_skip", None)  # older torch only logs it

    def watched_skip(wrapper, result, frame):
        if result.skip_reason is not None and result.guarded_code is None:
            tell(watcher.passed, frame, result.skip_reason)
        return skip(wrapper, result, frame)

    handle = __getattr__("register_bytecode_hook")(lambda *codes: tell(watcher.rewritten, *codes))
    steps = patched(translator, step=watched_step, log_graph_break=watched_break)
    skips = patched(entrance, **({"_handle_skip": watched_skip} if skip else {}))
    graphs = {"compile_subgraph": watched_cut, "call_user_compiler": watched_backend}
    times = __getattr__("dynamo_utils").compilation_time_metrics
    before = set(times)
    try:
        with handle, steps, skips, patched(output, **graphs):
            yield lost
    finally:
        for name in [*times]:
            if name.startswith("bytecode_hooks_") and name not in before:
                del times[name]  # torch takes the time of such a hook


@contextmanager
def running_graphs_as_they_are(is_meant):
    """Call no backend in the block for code for which `is_meant(code)` is true.

    Its graphs run as they are, as with the backend eager. The block is given a list, to which each
    backend is added that was not called.
    """
    home = __getattr__("OutputGraph")
    real, not_called = home.call_user_compiler, []

    def calling(output, graph, *args, **kwargs):
        if not is_meant(output.root_tx.f_code):
            return real(output, graph, *args, **kwargs)
        backend = getattr(output.compiler_fn, "_torchdynamo_orig_backend", output.compiler_fn)
        backend = getattr(backend, "compiler_fn", backend)  # torch's wrapper has what it was given
        if backend is not run_as_it_is:
            not_called.append(backend)
        with patched(output, compiler_fn=run_as_it_is):
            return real(output, graph, *args, **kwargs)

    with patched(home, call_user_compiler=calling):
        yield not_called


def run_as_it_is(graph, inputs):
    """Compile nothing: a backend for Dynamo, as eager is."""
    return graph.forward


@contextmanager
def logs():
    """Collect what torch logs in the block, as a list of messages, in place of printing it."""
    messages, collector = [], logging.Handler()
    collector.emit = lambda record: messages.append(record.getMessage())
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "torch"]
    kept = {logger: logger.handlers for logger in map(logging.getLogger, names) if logger.handlers}
    try:
        for logger in kept:
            logger.handlers = [collector]
        yield messages
    finally:
        for logger, handlers in kept.items():
            logger.handlers = handlers
