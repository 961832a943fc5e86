"""A `with` block -> the graph breaks of everything that Dynamo translates in it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import CodeType

from ...internals import code_extras, dynamo_reports, dynamo_translation, torch_private
from ...model.dynamo_records import BreakListing
from ...safety.users_frames import is_library
from ..text.error import describe_error
from .dynamo_breaks import build_break, list_breaks
from .dynamo_messages import clean_message
from .dynamo_places import ShownCode, is_shared_wrapper
from .dynamo_recorder import TranslationRecorder
from .dynamo_sentences import PARTLY_READ, TURNED_OFF, describe_barred_code
from .frame_words import describe_code

UNCALLED = "No compiled function was called in the block."
TRANSLATED_BEFORE = (
    "Compiled functions were called in the block, but Dynamo translated nothing in it: what was "
    "compiled or skipped before is not translated again."
)


class BreaksInBlock:
    """Lists the graph breaks of everything that Dynamo translates in a `with` block."""

    unit = "graph break"  # what a row is

    def __init__(self):
        """Prepare to record; MissingPart where this torch lacks what that needs."""
        torch_private.require_names("dynamo", "tracing")
        self._recorder = TranslationRecorder({}, step_limit=0)  # of no module: breaks only
        # By the id of the code, because code objects of different functions may be equal.
        self._called_codes: dict[int, CodeType] = {}  # that calls of compiled functions start with
        self._skip_sentences: dict[int, str] = {}  # why Dynamo left such code to Python
        self._reading_errors: list[Exception] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what Dynamo does, and calls of compiled functions."""
        calls = dynamo_reports.report_compiled_functions(self._note_call)
        skips = dynamo_reports.report_skipped_frames(self._note_skip, [])
        translations = dynamo_translation.report_translation(self._recorder)
        with translations as self._reading_errors, calls, skips:
            yield

    def _note_skip(self, code: CodeType, reason: str, is_start: bool) -> None:
        """Note why Dynamo left the first frame of a compiled call to Python.

        `dynamo_reports.report_skipped_frames` calls this for each frame left to Python. `is_start`
        says whether the frame is the one with which a compiled call starts.
        """
        if is_start and id(code) not in self._skip_sentences:
            reason = " ".join(clean_message(reason).split())
            self._skip_sentences[id(code)] = f"Dynamo skipped {describe_code(code)}: {reason}."

    def _note_call(self, fn) -> None:
        """Note the code that a call of a compiled function starts with; raise nothing in it.

        `dynamo_reports.report_compiled_functions` calls this before each call.
        """
        with suppress(Exception):  # `fn` may be any callable, and the call is the user's
            owner = getattr(fn, "__self__", None)
            started = type(owner).forward if hasattr(type(owner), "forward") else fn
            code = getattr(started, "__func__", started).__code__
            self._called_codes[id(code)] = code

    def _describe_block(self) -> list[str]:
        """Return what the rows do not say, such as that nothing was called or compiled."""
        recorder = self._recorder
        has_translated = bool(recorder.events or recorder.graphs)
        sentences = []

        if recorder.turned_off:
            sentences.append(TURNED_OFF.format(recorder.turned_off))
        for code, action in code_extras.list_barred_codes(self._list_users_codes()):
            if id(code) not in self._skip_sentences:  # else Dynamo decided it in the block
                sentences.append(describe_barred_code(code, action))
        if not has_translated:
            sentences += self._skip_sentences.values()
        if self._reading_errors:
            sentences.append(PARTLY_READ.format(describe_error(self._reading_errors[0])))
        if not (sentences or has_translated or recorder.skipped):
            sentences.append(TRANSLATED_BEFORE if self._called_codes else UNCALLED)
        return sentences

    def _list_users_codes(self) -> list[CodeType]:
        """Return the code objects called that are the user's, or torch's shared wrapper."""
        return [
            code
            for code in self._called_codes.values()
            if is_shared_wrapper(code) or not is_library(code.co_filename)
        ]

    @property
    def model(self) -> BreakListing:
        """Return the breaks so far."""
        shown = ShownCode()
        events = [event for event in self._recorder.events if event.kind in ("break", "given up")]
        breaks = [build_break(event, shown) for event in events]
        notes = self._describe_block()
        return list_breaks(
            "Graph breaks in the block", breaks, self._recorder, notes, in_block=True
        )
