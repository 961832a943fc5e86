"""A compiled function -> a ledger of its calls: which of them compiled, and why.

Before each call, the guards of every cache entry are asked, as torch asks them. Whether the call
compiled is read after it: from the cache, and from what Dynamo notes of each other frame.
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
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile.

    What the user compiled is watched as it is. Of anything else, a copy is compiled with `options`,
    keywords of `torch.compile`; the default backend is eager.
    """
    if real_isinstance(fn, WatchedFunction):
        return fn
    refuse_other_framework(fn, (), "watch_recompiles", "PyTorch")
    function, unwrapping = find_compiled_function(fn)

    users_compiled = find_users_compiled(fn)
    if users_compiled is not None or read_ledger_fields(fn):
        if options:
            raise TypeError(f"this is already compiled; pass {', '.join(options)} to torch.compile")
        wrapper = compiled_functions.find_inline_wrapper(users_compiled)
        return WatchedFunction(fn, function, fn, unwrapping, wrapper=wrapper)

    torch_private.refuse_late_dynamo()
    refuse_async(function, "watch_recompiles")
    compiled, copy = compile_copy_of(fn, {"backend": "eager", **options})
    return WatchedFunction(compiled, copy, fn, unwrapping, is_copy=True)


class WatchedFunction:
    """A compiled function that keeps a ledger. What it returns or raises is the function's own.

    Names without an underscore are few here, because all others are looked up in what the user
    handed over. `WatchedCall` and `CallJudge` belong to this class and use those with one.
    """

    unit = "call"  # what a row is

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

        `compiled`: what is called. `function`: the Python function that is compiled in it. `fn`:
        what the user handed over. `unwrapping`: sentences on what was peeled off `fn`. `is_copy`:
        whether `function` is a copy of the user's. `wrapper`: torch's own around `function`, if
        Dynamo cannot start with `function`.
        """
        self._compiled = compiled
        self.compiled_function = function
        self.compiled_from = fn
        self.peeled = unwrapping
        self._start = wrapper or function  # what Dynamo starts with
        self._rows: list[CompileEntry] = []
        # What Dynamo learned of a copy's sizes. The user's function has the same key in torch's
        # table, so it is in that table during calls only.
        self._sizes = {} if is_copy else None
        self._skip_reason = ""  # why Dynamo skips the function since an earlier call

        # nothing is `updated`: the user's attributes would replace those above
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = read_signature(compiled)

    def __getattr__(self, name: str):
        """Return what the user's module or function has under this name, such as `train`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.compiled_from, name)

    def __call__(self, /, *args, **kwargs):
        """Call the function, and write the call down."""
        call = WatchedCall(self)
        try:
            call.begin(args, kwargs)
            if call.is_fatal:
                raise RuntimeError(FATAL_CALL)
            result = self._compiled(*args, **kwargs)
        except BaseException as error:
            call.end(error)
            raise
        call.end()
        return result

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts of these calls in a row."""
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
        """Return the title, with the name of torch's wrapper if that has no better one."""
        start = self._start
        users_name = name_wrapped_callable(start)
        title = f"Calls of {users_name or read_function_name(start)}"
        if not users_name and hasattr(start, "__wrapped__"):
            title += f", in its wrapper {describe_code(start.__code__)}"
        return title

    def _build_note(self, verdicts: list[str]) -> str:
        """Return how many calls had which verdict, and how many entries the cache has."""
        if not verdicts:
            return " ".join(("no call yet.", *self.peeled))

        counts = [
            f"{count:,} {verdict}" if verdict in WITHOUT_PLURAL else format_count(count, verdict)
            for verdict, count in Counter(verdicts).items()
        ]
        entries = format_entry_count(len(find_entries_for(self._start)))
        calls = (
            f"{format_count(len(verdicts), 'call')}: {', '.join(counts)}; {entries} in the cache."
        )
        return " ".join((calls, *self.peeled))
