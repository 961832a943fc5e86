"""Calls of what `torch.compile` made -> in which of them compiled code ran, and why in others not.

torch's wrapper around a compiled function says when a call begins, and its cache says of each frame
whether an entry accepts it. Dynamo's own words tell why it leaves a frame to Python. A frame that
Dynamo was told in an earlier call to skip is not announced at all: that is *unknown* here.
"""

import threading
import weakref
from collections import Counter, namedtuple
from contextlib import contextmanager
from types import CodeType, FunctionType, MethodType

from ...internals import code_extras, torch_private
from ...model.phrase import counted, listed
from ...safety.bookkeeping import Bookkeeping
from ...safety.users_frames import is_library
from .dynamo_recorder import same
from .given_up import find_given_up, find_reached
from .guard_tree import closure_values, code_words, frame_words

MOST_REASONS = 4
STANCE_OFF = 'torch.compiler.set_stance("force_eager") turned compiling off'
STANCE_RAISES = 'torch.compiler.set_stance("fail_on_recompile") raises, as no entry accepts'
STANCE_KEPT = (
    'no entry accepts this call, and torch.compiler.set_stance("eager_on_recompile") keeps Dynamo '
    "from compiling"
)
NO_MORE = "no entry accepts this call, and Dynamo compiles no more of this code"
NOTHING_TO_COMPILE = "Dynamo found no tensor op to compile in"
MARKED = "Dynamo did not look at {}, because torch has marked this code to be skipped"
EARLIER = "{}. In an earlier call: {}"
NOT_LOOKED_AT = (
    "unknown: Dynamo did not look at this code again. An earlier call may have made it skip the "
    "code for good; a call inside a TorchDispatchMode, config.disable and a failed compile do that"
)


UNHEARD = (
    "an earlier call made Dynamo give up {}, and torch does not say whether plain Python ran it in"
)
SHARED = (
    "; torch has one wrapper for all that Dynamo cannot start with, such as a Sequential, and one "
    "that fails, such as an LSTM, turns all of them off"
)

# One frame that Dynamo compiled, or tried to. `seen`: its locals; `guarded`: the new entry, if any;
# `caller`: the user's frame; `call`: the call of a compiled function in which that was, or None.
Noted = namedtuple("Noted", "metrics code seen guarded caller call at_limit")


class Call:
    """One call of a compiled function: what was heard of it so far."""

    def __init__(self, fn, number: int, answer):
        self.fn, self.number, self.thread = fn, number, threading.get_ident()
        self.ran = self.left = self.refused = self.skipped = False
        self.pending = False  # its entries refused a frame, and nothing was heard of it since
        self.only_looks, self.reasons = answer is False, []
        self.gave_up = False  # on a frame in this call
        self.marked = ""  # what torch has marked to be skipped, in words
        if answer is None:
            self.reasons.append(STANCE_OFF)


class CompiledCalls:
    """What a block hears of the calls of compiled functions, in any thread."""

    def __init__(self, book: Bookkeeping, tell=lambda noted: None):
        """`tell` hears a `Noted` of each frame that Dynamo compiled, or tried to."""
        self.total = self.ran = self.eager = self.failed = self.unknown = 0
        self.why: Counter[str] = Counter()
        self.measured = False
        self._book, self._tell = book, tell
        self._numbers, self._known = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self._open: dict[int, Call] = {}
        self._given_up: list = []
        self._unheard: dict[str, None] = {}  # what Dynamo skips without a word

    @contextmanager
    def hearing(self):
        """Hear of calls, look-ups and skipped frames in the block."""
        book = self._book
        self._given_up = book.attempt(find_given_up, default=[])
        with (
            torch_private.compiled_calls(self._start, book.lost),
            torch_private.hearing_skips(self._skip, book.lost),
            torch_private.hearing_refusals(self._refuse, book.lost),
            torch_private.hearing_compilations(self._compile, book.lost),
            torch_private.hearing_lookups(self._look_up, book.lost) as self.measured,
        ):
            try:
                yield self
            finally:
                for place in list(self._open):
                    book.attempt(self._end, place)

    def current(self) -> Call | None:
        """Return the innermost call that this thread is in."""
        frame = torch_private.wrapper_frame()
        return None if frame is None else self._open.get(id(frame))

    def _compile(self, metrics) -> None:
        """Note what Dynamo says of a frame that it compiled, or tried to."""
        inside, caller = torch_private.compiling_now()
        code, seen = inside.get("code", metrics), inside.get("locals") or {}
        at_limit = bool(not metrics.co_name and metrics.recompile_reason)
        at_limit = at_limit or "recompile limit exceeded" in str(metrics.fail_reason)
        call = self.current()
        noted = Noted(metrics, code, seen, inside.get("guarded_code"), caller, call, at_limit)
        if call is not None:
            self._note(noted)
        self._tell(noted)

    def _note(self, noted: Noted) -> None:
        call, metrics, who = noted.call, noted.metrics, frame_words(noted.code, noted.seen)
        call.pending = False
        if noted.at_limit:
            call.refused = True
            call.reasons.append(f"{NO_MORE} (recompile_limit is {limit()}): {who}")
        elif metrics.fail_type:
            call.refused = call.gave_up = True
            call.reasons.append(f"Dynamo gave up {who}: {failure_words(metrics)}")
        elif metrics.graph_op_count is not None:
            call.ran = True
        else:
            call.reasons.append(f"{NOTHING_TO_COMPILE} {who}")

    def _start(self, fn, frame, answer) -> None:
        alive = {id(one) for one in torch_private.wrapper_frames()}
        for place, call in list(self._open.items()):
            is_over = call.thread == threading.get_ident() and place not in alive
            if is_over or place == id(frame):
                self._end(place)
        number = self._numbers[fn] = self._numbers.get(fn, 0) + 1
        self.total += 1
        self._open[id(frame)] = Call(fn, number, answer)

    def _look_up(self, hit: bool) -> None:
        call = self.current()
        if call is None:
            return
        call.left = call.left or call.pending
        call.pending = not hit
        call.ran = call.ran or hit

    def _refuse(self, code) -> None:
        """Note that torch raises in place of compiling a frame."""
        call = self.current()
        if call is not None:
            call.pending, call.refused = False, True
            call.reasons.append(f"{STANCE_RAISES}: {code_words(code)}")

    def _skip(self, code, reason: str, is_start: bool) -> None:
        call = self.current()
        if call is None:
            return
        call.pending, call.skipped = False, True
        if is_start:  # else it is a frame below one of which nothing is known
            words = " ".join(same(reason).split())
            call.reasons.append(f"Dynamo skipped {code_words(code)}: {words}")

    def _end(self, place: int) -> None:
        call = self._open.pop(place)
        if call.pending:
            call.left = True
        self.ran += call.ran
        if call.refused and not call.ran and not call.skipped:
            self.failed += 1
        elif call.left or call.refused or not call.ran or self._ran_marked(call):
            self.eager += 1
            self.why[self.reason(call)] += 1
        elif reached := find_reached(call.fn, self._given_up):
            self.unknown += 1
            self._unheard |= dict.fromkeys(map(code_words, reached))
        if call.gave_up:
            self._given_up = find_given_up()

    def reason(self, call: Call) -> str:
        """Return why plain Python ran in a call; what is not known is said to be unknown."""
        if call.reasons and (call.refused or call.marked or not call.ran):
            self._known[call.fn] = call.reasons[0]
            return call.reasons[0]
        if call.left or call.pending or call.refused:
            return STANCE_KEPT if call.only_looks else f"{NO_MORE} (recompile_limit is {limit()})"
        shared = torch_private.is_wrapper_code(getattr(call.fn, "__code__", None))
        words = (call.marked or self._book.attempt(find_marked, call.fn)) or NOT_LOOKED_AT
        words += SHARED * shared
        known = self._known.get(call.fn)
        return words if known is None else EARLIER.format(words, known)

    def _ran_marked(self, call: Call) -> bool:
        """Return whether the user's code that a call starts with is marked, beside what ran."""
        call.marked = self._book.attempt(find_marked, call.fn, True, default="")
        return bool(call.marked)

    def summary(self) -> str:
        """Say how many calls ran compiled code, how many plain Python, and why."""
        if not self.total:
            return NO_CALL
        told = f"{counted(self.total, 'call')} of compiled functions: "
        if not self.measured:
            return told + "unknown which of them ran compiled code, as this torch does not say."
        parts = [f"compiled code ran in {f'{self.ran:,}' if self.ran else 'none'}"]
        if self.eager:
            parts.append(f"plain Python ran all or a part of {self.eager:,}")
        if self.failed:
            parts.append(f"Dynamo raised an error in {self.failed:,}")
        if self.unknown:
            parts.append(
                f"{UNHEARD.format(listed([*self._unheard], MOST_REASONS))} {self.unknown:,}"
            )
        why = [f"{reason} ({number:,}×)" for reason, number in self.why.most_common()]
        because = f" Because: {listed(why, MOST_REASONS)}." if why else ""
        return f"{told}{', '.join(parts)}.{because}"


def find_marked(fn, of_user: bool = False) -> str:
    """Return in words that the code a call of `fn` starts with is marked; nothing if it is not.

    A module compiled in its place starts with torch's `_call_impl`, and that calls its `forward`.
    `of_user`: torch's own functions do not count, other than the `forward` of its modules.
    """
    module = fn.__self__ if torch_private.is_module_call(fn) else None
    start = fn if module is None else module.forward
    function = start.__func__ if type(start) is MethodType else start
    code = getattr(function, "__code__", None)
    if type(function) is not FunctionType or type(code) is not CodeType:
        return ""
    if of_user and module is None and is_library(code.co_filename):
        return ""
    if tuple(action for _, action in code_extras.barred([code])) != ("SKIP",):
        return ""
    inside = closure_values(function) if torch_private.is_wrapper_code(code) else {}
    return MARKED.format(frame_words(code, inside if module is None else {"self": module}))


NO_CALL = (
    "No call of a compiled function was seen. What torch.compile made with disable=True, or in a "
    "process with TORCH_COMPILE_DISABLE, is the function itself, and its calls cannot be seen."
)


def limit() -> int:
    """Return how many entries Dynamo makes for one function at most."""
    return torch_private.config.recompile_limit


def failure_words(metrics) -> str:
    """Return Dynamo's own words for why it failed to compile a frame."""
    return " ".join(same(f"{metrics.fail_type}: {metrics.fail_reason}").split("\n")[0].split())
