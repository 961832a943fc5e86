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

    unit = "graph break"  # what a row of the table stands for

    def __init__(self):
        """Prepare to record; MissingPart where this torch lacks what that needs."""
        torch_private.require_names("dynamo", "tracing")
        # With no module and no steps, only graphs and breaks are recorded.
        self._recorder = TranslationRecorder({}, step_limit=0)
        # In these two dicts the key is the id of a code object, because code objects of different
        # functions may be equal.
        # id -> code object with which a call of a compiled function started
        self._called_codes: dict[int, CodeType] = {}
        # id of such a code object -> a sentence that says why Dynamo left it to Python
        self._skip_sentences: dict[int, str] = {}
        self._reading_errors: list[Exception] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what Dynamo does in the block, and the calls of compiled functions."""
        calls = dynamo_reports.report_compiled_functions(self._note_call)
        skips = dynamo_reports.report_skipped_frames(self._note_skip, [])
        translations = dynamo_translation.report_translation(self._recorder)
        # Errors that the recorder's methods raise are added to this list, and not raised.
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
        """Note the code object that a call of a compiled function starts with.

        `dynamo_reports.report_compiled_functions` calls this before each call. It must raise
        nothing, because it runs inside the user's call.
        """
        with suppress(Exception):  # `fn` may be any callable, also one without a code object
            owner = getattr(fn, "__self__", None)
            # For a method of a module, the code that matters is the one of its `forward`.
            start = type(owner).forward if hasattr(type(owner), "forward") else fn
            code = getattr(start, "__func__", start).__code__
            self._called_codes[id(code)] = code

    def _describe_block(self) -> list[str]:
        """Return sentences on what the rows of breaks do not say.

        Such as that Dynamo is turned off, that it skipped a function, or that nothing was called.
        """
        recorder = self._recorder
        has_translated = bool(recorder.events or recorder.graphs)
        sentences = []

        if recorder.disabling_setting:
            sentences.append(TURNED_OFF.format(recorder.disabling_setting))
        for code, action in code_extras.list_barred_codes(self._list_users_codes()):
            # If Dynamo decided it only in the block, `_skip_sentences` has a better reason.
            if id(code) not in self._skip_sentences:
                sentences.append(describe_barred_code(code, action))
        if not has_translated:  # then skips are the only result
            sentences += self._skip_sentences.values()
        if self._reading_errors:
            sentences.append(PARTLY_READ.format(describe_error(self._reading_errors[0])))
        # Dynamo reported nothing at all. Either nothing was called, or all was translated before.
        if not (sentences or has_translated or recorder.skipped):
            sentences.append(TRANSLATED_BEFORE if self._called_codes else UNCALLED)
        return sentences

    def _list_users_codes(self) -> list[CodeType]:
        """Return the called code objects that are the user's, or that of torch's own wrapper.

        Torch puts this wrapper around callables that Dynamo cannot start with.
        """
        return [
            code
            for code in self._called_codes.values()
            if is_shared_wrapper(code) or not is_library(code.co_filename)
        ]

    @property
    def model(self) -> BreakListing:
        """Return the breaks so far."""
        shown = ShownCode()
        # The recorder also has events of graphs and of new code.
        events = [event for event in self._recorder.events if event.kind in ("break", "given up")]
        breaks = [build_break(event, shown) for event in events]
        notes = self._describe_block()
        return list_breaks(
            "Graph breaks in the block", breaks, self._recorder, notes, in_block=True
        )
