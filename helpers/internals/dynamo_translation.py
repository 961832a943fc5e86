"""`with` blocks that report each step of Dynamo's translation, or keep graphs from a backend.

Torch's Dynamo translates a function one bytecode instruction at a time
(torch/_dynamo/symbolic_convert.py). The translation fills a graph. A graph break ends a graph
early. Dynamo passes each finished graph to the backend (torch/_dynamo/output_graph.py).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Protocol

from ..safety.restoring import patched
from . import torch_private
from .dynamo_reports import call_safely


class TranslationWatcher(Protocol):
    """What `report_translation` calls at each event. `tx` is Dynamo's InstructionTranslator."""

    def note_instruction(self, tx) -> object:
        """Receive the translator before it translates an instruction."""

    def complete_instruction(self, tx, error: BaseException | None) -> object:
        """Receive the translator after an instruction, with the error that it raised or None."""

    def note_break_cause(self, error: BaseException | None) -> object:
        """Receive the error in which Dynamo says why the graph has to end here."""

    def note_graph_end(self, tx, reason) -> object:
        """Receive the translator and torch's GraphCompileReason when a graph is about to end."""

    def note_graph(self, graph) -> object:
        """Receive the GraphModule that the backend is about to receive."""

    def note_new_code(self, old: CodeType, new: CodeType) -> object:
        """Receive a code object and the one that Dynamo has made of it."""

    def note_skipped_frame(self, frame: FrameType, reason) -> object:
        """Receive a frame that Dynamo leaves to Python, and why."""


@contextmanager
def report_translation(watcher: TranslationWatcher) -> Iterator[list[Exception]]:
    """Call the methods of `watcher` for every step of Dynamo's translation in the block.

    The block gets a list that grows. An error that a method of `watcher` raises is added to the
    list, and does not reach the translation.
    """
    errors: list[Exception] = []
    # (class of torch, name of a method of it -> the function that replaces the method)
    replacements = [
        (torch_private.InstructionTranslatorBase, _report_instructions(watcher, errors)),
        (torch_private.convert_frame.CatchErrorsWrapper, _report_skips(watcher, errors)),
        (torch_private.OutputGraph, _report_graphs(watcher, errors)),
    ]

    def report_new_code(*codes: CodeType) -> None:
        call_safely(watcher.note_new_code, errors, *codes)

    hook = torch_private.register_bytecode_hook(report_new_code)
    with _keep_hook_times(), hook, ExitStack() as stack:
        for owner, functions in replacements:
            stack.enter_context(patched(owner, **functions))
        yield errors


def _report_instructions(watcher: TranslationWatcher, errors: list[Exception]) -> dict:
    """Return the methods for InstructionTranslatorBase that report instructions and breaks.

    The result maps the name of a method to the function that replaces the method. Each function
    calls torch's own method, too.
    """
    translator = torch_private.InstructionTranslatorBase
    real_step = translator.step
    real_log = translator.log_graph_break

    def step(tx):
        """Translate one instruction, as torch's method does, and report it before and after.

        `tx` is the InstructionTranslator. The result says whether there are more instructions.
        """
        call_safely(watcher.note_instruction, errors, tx)
        try:
            goes_on = real_step(tx)
        except BaseException as error:
            call_safely(watcher.complete_instruction, errors, tx, error)
            raise
        call_safely(watcher.complete_instruction, errors, tx, None)
        return goes_on

    def log_graph_break(tx, *args, exc=None, **kwargs):
        call_safely(watcher.note_break_cause, errors, exc)
        return real_log(tx, *args, exc=exc, **kwargs)

    return {"step": step, "log_graph_break": log_graph_break}


def _report_graphs(watcher: TranslationWatcher, errors: list[Exception]) -> dict:
    """Return the methods for OutputGraph that report the end of a graph, and the graph itself.

    The result maps the name of a method to the function that replaces the method. Each function
    calls torch's own method, too.
    """
    output_graph = torch_private.OutputGraph
    real_compile = output_graph.compile_subgraph
    real_call = output_graph.call_user_compiler

    def compile_subgraph(output, *args, **kwargs):
        # Torch passes `tx` and `reason` by position or by name. strict=False, because there may be
        # fewer or more positional arguments.
        arguments = dict(zip(("tx", "reason"), args, strict=False)) | kwargs
        call_safely(watcher.note_graph_end, errors, arguments.get("tx"), arguments.get("reason"))
        return real_compile(output, *args, **kwargs)

    def call_user_compiler(output, graph, *args, **kwargs):
        call_safely(watcher.note_graph, errors, graph)
        return real_call(output, graph, *args, **kwargs)

    return {"compile_subgraph": compile_subgraph, "call_user_compiler": call_user_compiler}


def _report_skips(watcher: TranslationWatcher, errors: list[Exception]) -> dict:
    """Return the method for CatchErrorsWrapper that reports frames that Dynamo skips.

    The result maps the name of the method to the function that replaces it. It is empty where
    torch is older and has no such method.
    """
    real_skip = getattr(torch_private.convert_frame.CatchErrorsWrapper, "_handle_skip", None)
    if not real_skip:
        return {}

    def handle_skip(wrapper, result, frame):
        # The method is also called with results of frames that Dynamo has compiled.
        if result.skip_reason is not None and result.guarded_code is None:
            call_safely(watcher.note_skipped_frame, errors, frame, result.skip_reason)
        return real_skip(wrapper, result, frame)

    return {"_handle_skip": handle_skip}


@contextmanager
def _keep_hook_times() -> Iterator[None]:
    """Remove after the block the times that torch has measured of bytecode hooks in the block.

    `report_translation` registers such a hook, so a program would find times that are not its own.
    """
    times = torch_private.dynamo_utils.compilation_time_metrics  # name of a phase -> its times
    earlier_names = set(times)
    try:
        yield
    finally:
        for name in list(times):
            if name.startswith("bytecode_hooks_") and name not in earlier_names:
                del times[name]


@contextmanager
def skip_backends(is_meant: Callable[[CodeType], bool]) -> Iterator[list]:
    """Call no backend in the block for the graphs of code for which `is_meant(code)` is true.

    Such graphs run uncompiled, as with the backend `eager`. The block gets a list that grows. Each
    backend that was not called is added to the list.
    """
    output_graph = torch_private.OutputGraph
    real = output_graph.call_user_compiler
    skipped_backends = []

    def call_user_compiler(output, graph, *args, **kwargs):
        # `root_tx` translates the outermost function, of which the graph is made.
        if not is_meant(output.root_tx.f_code):
            return real(output, graph, *args, **kwargs)

        backend = _unwrap_backend(output.compiler_fn)
        if backend is not run_as_it_is:  # else an outer block of this kind has set and noted it
            skipped_backends.append(backend)
        with patched(output, compiler_fn=run_as_it_is):
            return real(output, graph, *args, **kwargs)

    with patched(output_graph, call_user_compiler=call_user_compiler):
        yield skipped_backends


def _unwrap_backend(compiler_fn):
    """Return the backend that the user passed to `torch.compile`.

    Torch may put two wrappers around a backend, and stores the wrapped object as an attribute of
    each wrapper.
    """
    backend = getattr(compiler_fn, "_torchdynamo_orig_backend", compiler_fn)
    return getattr(backend, "compiler_fn", backend)


def run_as_it_is(graph, inputs):
    """Return the graph uncompiled. Dynamo calls this backend with a GraphModule and its inputs."""
    return graph.forward
