"""Find the *stage* of a running op (FORWARD, BACKWARD, RECOMPUTE or UPDATE), and the modules of
torch or layers of Keras whose calls are open. Both are read from the frames that lead to the op. A
frame of `torch.optim`, for example, says that the op updates a parameter.

No hook is set on a module, because a compiler would see the hook. The search goes outwards and ends
at a backward pass or a recomputation, because calls around these are not calls of the op's layers.
"""

import functools
import inspect
import os
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType

from ...safety.users_frames import is_library

FORWARD = "forward"
BACKWARD = "backward"
RECOMPUTE = "recompute"
UPDATE = "update"
LAYER_CALL = "call"  # the mark of a frame that runs a module or a layer

# (module, function) of a frame -> what runs below it. The innermost of such frames decides.
STAGES_BY_FUNCTION = {
    ("torch.autograd", "backward"): BACKWARD,
    ("torch.autograd", "grad"): BACKWARD,
    ("tensorflow.python.eager.backprop", "gradient"): BACKWARD,
    ("tensorflow.python.eager.backprop", "jacobian"): BACKWARD,
    ("tensorflow.python.ops.gradients_util", "_GradientsHelper"): BACKWARD,
    ("torch.utils.checkpoint", "recompute_fn"): RECOMPUTE,
    ("torch.utils.checkpoint", "CheckpointFunction.backward"): RECOMPUTE,
    ("tensorflow.python.ops.custom_gradient", "inner_recompute_grad"): RECOMPUTE,
}
CALLS_OF_LAYERS = {
    ("torch.nn.modules.module", "_call_impl"),
    ("keras.src.layers.layer", "__call__"),
}
OPTIMIZER_MODULES = ("keras.src.optimizers", "torch.optim")  # how the names of modules begin
# The models and loaders of this module of torch.optim run forward passes, too.
AVERAGING_MODULE = "torch.optim.swa_utils"
AVERAGING_FUNCTION = "update_parameters"
# torch's file that calls the `backward` of a torch.autograd.Function of the user's.
AUTOGRAD_FUNCTION_FILE = os.path.join("torch", "autograd", "function.py")


@dataclass(frozen=True)
class OpenCalls:
    """What the frames that lead to an op tell of the op."""

    #: FORWARD, BACKWARD, RECOMPUTE or UPDATE.
    stage: str
    #: The modules and layers whose calls are open, the innermost first.
    layers: list
    #: Whether a function of the user's runs that autograd calls as a hook.
    is_hook: bool


class FrameReader:
    """Reads the stage of ops from their frames; it remembers what each code object is."""

    def __init__(self):
        """Start without any code object."""
        # id of a code object -> (its mark, the code object). The code object is kept alive, because
        # otherwise a new one could have its id.
        self._marks_by_code: dict[int, tuple[str, CodeType]] = {}

    def forget_codes(self) -> None:
        """Forget all code objects, so that none is kept alive after the run."""
        self._marks_by_code = {}

    def read_open_calls(self, frame: FrameType | None) -> OpenCalls:
        """Return the stage and the open layers of an op that runs in this frame.

        The frames are read from this one outwards. The search ends at a frame of a backward pass or
        of a recomputation.
        """
        stage = ""
        layers = []
        # Of the frames that were passed: the ids of their code objects, and their files.
        inner_codes = set()
        inner_files = []
        while frame is not None:
            mark = self._find_mark(frame)
            if mark == LAYER_CALL:
                layers.append(frame.f_locals["self"])
            elif mark == UPDATE:
                if not stage:  # the innermost such frame decides
                    # `optimizer.step(closure)` calls the learner's closure to compute the loss.
                    # That is a forward pass, and no update.
                    is_closure = not inner_codes.isdisjoint(_list_codes_of_closures(frame))
                    stage = FORWARD if is_closure else UPDATE
            elif mark:  # BACKWARD or RECOMPUTE
                return OpenCalls(stage or mark, layers, is_hook=_is_hook(inner_files))
            inner_files.append(frame.f_code.co_filename)
            inner_codes.add(id(frame.f_code))
            frame = frame.f_back
        return OpenCalls(stage or FORWARD, layers, is_hook=False)

    def _find_mark(self, frame: FrameType) -> str:
        """Return the mark of a frame: a stage, LAYER_CALL, or "".

        All frames of a code object have the same mark, so the mark is stored for the code object.
        """
        code = frame.f_code
        if id(code) not in self._marks_by_code:
            self._marks_by_code[id(code)] = _choose_mark(frame), code
        mark, _ = self._marks_by_code[id(code)]
        return mark


def _choose_mark(frame: FrameType) -> str:
    """Return the mark of a frame: the stage of the ops in it, LAYER_CALL, or "" for neither."""
    code = frame.f_code
    module = str(frame.f_globals.get("__name__", ""))
    function = (module, code.co_name)
    method = (module, code.co_qualname)
    stage = STAGES_BY_FUNCTION.get(function) or STAGES_BY_FUNCTION.get(method)
    if stage:
        return stage
    if function in CALLS_OF_LAYERS:
        return LAYER_CALL
    # This module is one of torch.optim, but most of its functions update nothing.
    if module == AVERAGING_MODULE and code.co_name != AVERAGING_FUNCTION:
        return ""
    return UPDATE if module.startswith(OPTIMIZER_MODULES) else ""


def _list_codes_of_closures(frame: FrameType) -> set[int]:
    """Return the ids of the code objects of functions that were passed to an optimizer's step.

    `frame` is a frame of the optimizer. The function is its argument `closure`, or is in the `args`
    or `kwargs` of a wrapper.
    """
    variables = frame.f_locals
    arguments = [
        variables.get("closure"),
        *variables.get("args", ()),
        *variables.get("kwargs", {}).values(),
    ]
    functions = []
    for argument in arguments:
        if type(argument) is FunctionType:
            functions.append(inspect.unwrap(argument))
        elif type(argument) is MethodType:
            functions.append(argument.__func__)
    # A function may be wrapped in an object of any type, which has no code object.
    return {id(function.__code__) for function in functions if type(function) is FunctionType}


def _is_hook(files: list[str]) -> bool:
    """Return whether autograd has called a function of the user's as a hook.

    `files` are the files of the frames inside the backward pass. A user may also write the
    `backward` method of a torch.autograd.Function, which is no hook. A file of torch calls it.
    """
    is_backward_of_op = any(file.endswith(AUTOGRAD_FUNCTION_FILE) for file in files)
    return not is_backward_of_op and any(_is_users_file(file) for file in files)


@functools.cache
def _is_users_file(file: str) -> bool:
    """Return whether a file is of no library; the answer is cached, because each op asks."""
    return not is_library(file)
