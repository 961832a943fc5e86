"""A compiled function -> a ledger of its calls, which says for each call whether it compiled.

The function is put into a `WatchedFunction`, which is called in its place. Before each call, the
guards of every cache entry are asked, as torch asks them. After the call, new cache entries show
whether Dynamo compiled.
"""

import functools
from collections import Counter
from types import FunctionType

from ...internals import compiled_functions, torch_private
from ...model.compile_records import HEADINGS, MARKS, CompileEntry, CompileLedger
from ...model.phrase import format_count
from ...safety.arguments import real_isinstance
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import read_function_name, refuse_async
from .cache_entries import format_entry_count
from .compiled_copy import compile_copy_of, find_users_compiled, read_signature
from .compiled_function import find_compiled_function, read_ledger_fields
from .frame_words import describe_code, name_wrapped_callable
from .guard_failures import find_entries_for
from .watched_call import FATAL_CALL, UNKNOWN, WatchedCall

COMPILED_CODE_RAN = ("hit", "compile", "recompile")
WITHOUT_PLURAL = ("eager", UNKNOWN)


def watch_function(fn, **options) -> "WatchedFunction":
    """Return a `WatchedFunction`: it is called like `fn`, and keeps a ledger of its calls.

    If the user has compiled `fn`, that compiled function is watched. Otherwise a copy of `fn` is
    compiled and watched, so that the cache of the user's function stays as it is.

    Parameters
    ----------
    fn : callable
        A function, a module, or what `torch.compile` made. A `WatchedFunction` is returned as it
        is.
    **options
        Keywords of `torch.compile` for the copy; TypeError if `fn` is compiled already. The default
        backend is eager.
    """
    if real_isinstance(fn, WatchedFunction):
        return fn
    refuse_other_framework(fn, (), "watch_recompiles", "PyTorch")
    function, unwrapping = find_compiled_function(fn)

    users_compiled = find_users_compiled(fn)
    # `fn` may also be the exhibit of an earlier ledger, whose function is compiled, too.
    if users_compiled is not None or read_ledger_fields(fn):
        if options:
            raise TypeError(f"this is already compiled; pass {', '.join(options)} to torch.compile")
        wrapper = compiled_functions.find_inline_wrapper(users_compiled)
        return WatchedFunction(fn, function, fn, unwrapping, wrapper=wrapper)

    torch_private.refuse_late_dynamo()  # raises where an import of Dynamo would crash the process
    refuse_async(function, "watch_recompiles")  # a call of such a function runs nothing yet
    compiled, copy = compile_copy_of(fn, {"backend": "eager", **options})
    return WatchedFunction(compiled, copy, fn, unwrapping, is_copy=True)


class WatchedFunction:
    """A compiled function that keeps a ledger. It returns and raises what the function does.

    An attribute that is not defined here is looked up in what the user passed, such as `train` of a
    module. So this class has few public names. `WatchedCall` and `CallJudge` are parts of this
    class, and use its private attributes.
    """

    unit = "call"  # what a row of the ledger stands for

    def __init__(
        self,
        compiled,
        function: FunctionType,
        fn,
        unwrapping: tuple[str, ...] = (),
        is_copy: bool = False,
        wrapper: FunctionType | None = None,
    ):
        """Begin an empty ledger.

        Parameters
        ----------
        compiled : callable
            The compiled callable, to which each call is passed on.
        function : FunctionType
            The Python function inside `compiled`.
        fn : callable
            The callable that the user passed.
        unwrapping : tuple of str
            A sentence for each layer around `function`, such as a decorator or a partial.
        is_copy : bool
            Whether `function` is a copy of the user's function.
        wrapper : FunctionType, optional
            Torch's own wrapper around `function`, which Dynamo compiles if it cannot start with
            `function` itself.
        """
        self._compiled = compiled
        self.compiled_function = function
        self.compiled_from = fn
        self.unwrapping_sentences = unwrapping
        self._start = wrapper or function  # what Dynamo starts with
        self._rows: list[CompileEntry] = []
        # Which sizes of a copy's arguments Dynamo has seen vary. Torch stores this in a table by
        # the function's file, line and name, which the copy shares with the user's function. So the
        # copy's sizes are in torch's table during calls only.
        self._sizes = {} if is_copy else None
        self._skip_reason = ""  # a sentence: why Dynamo skips the function since an earlier call

        # With `updated`, the user's attributes would replace those above.
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = read_signature(compiled)

    def __getattr__(self, name: str):
        """Return what the user's module or function has under this name, such as `train`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.compiled_from, name)

    def __call__(self, /, *args, **kwargs):
        """Call the function, return its result, and add a row to the ledger."""
        call = WatchedCall(self)
        try:
            call.begin(args, kwargs)
            if call.is_fatal:
                raise RuntimeError(FATAL_CALL)  # instead of a crash of the process
            result = self._compiled(*args, **kwargs)
        except BaseException as error:
            call.end(error)
            raise
        call.end()
        return result

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts, such as `compile hit hit`."""
        count_before = len(self._rows)
        for args in calls:
            self(*args)
        return " ".join(self.model.verdicts[count_before:])

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        rows = tuple(self._rows)
        verdicts = [row.verdict for row in rows]
        compiled_calls = sum(verdict in COMPILED_CODE_RAN for verdict in verdicts)
        return CompileLedger(
            self._build_title(),
            "call",
            HEADINGS,
            rows,
            self._build_note(verdicts),
            marks=MARKS,
            calls=len(rows),
            compiled_calls=None if UNKNOWN in verdicts else compiled_calls,
        )

    def _build_title(self) -> str:
        """Return the title, such as `Calls of Linear` or `Calls of step, in its wrapper …`."""
        start = self._start
        users_name = name_wrapped_callable(start)  # "" unless `start` is torch's own wrapper
        title = f"Calls of {users_name or read_function_name(start)}"
        if not users_name and hasattr(start, "__wrapped__"):  # Dynamo starts with a decorator's
            title += f", in its wrapper {describe_code(start.__code__)}"
        return title

    def _build_note(self, verdicts: list[str]) -> str:
        """Return a sentence such as `3 calls: 1 compile, 2 hits; 1 entry in the cache.`"""
        if not verdicts:
            return " ".join(("no call yet.", *self.unwrapping_sentences))

        counts = [
            f"{count:,} {verdict}" if verdict in WITHOUT_PLURAL else format_count(count, verdict)
            for verdict, count in Counter(verdicts).items()
        ]
        entries = format_entry_count(len(find_entries_for(self._start)))
        calls = (
            f"{format_count(len(verdicts), 'call')}: {', '.join(counts)}; {entries} in the cache."
        )
        return " ".join((calls, *self.unwrapping_sentences))
