"""A `with` block -> a ledger with a row for each frame that Dynamo compiles in it, and why.

A frame is one function, or the rest of a function after a graph break.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType

from ...internals import dynamo_codes, dynamo_reports, torch_private
from ...model.compile_records import HEADINGS, MARKS, TONES, CompileEntry, CompileLedger
from ...model.phrase import format_count, format_names
from ...model.tables import Verdict
from ...safety.bookkeeping import Bookkeeping
from ..text.error import describe_error
from .call_verdicts import NO_ENTRY, CallVerdict
from .compiled_call_reasons import describe_failure, read_recompile_limit
from .compiled_calls import CompiledCalls, FrameReport
from .dynamic_sizes import describe_dynamic_sizes
from .dynamo_messages import format_file_line
from .frame_words import describe_code, describe_frame, use_users_names_of_frame
from .guard_failures import explain_recompile
from .guard_words import quote_torch
from .watched_call import RECORDING_FAILED

MOST_FUNCTIONS = 3  # at the limit that a note names
# The last line of a row's note. A call without a file is left out, as it may be of any function.
CALL_LINE = re.compile(r"\nin call .*\)$")
ROW_IS_FRAME = (
    "A row is a frame. A call compiles several where a graph breaks; watch_recompiles "
    "counts it once."
)


class CompilesInBlock:
    """Lists what Dynamo compiles in a `with` block, in any function: what, and why."""

    unit = "compile"  # what a row is

    def __init__(self):
        """Prepare to record; MissingPart where this torch lacks what that needs."""
        torch_private.require_names("dynamo", "cache")
        self._rows: list[CompileEntry] = []
        self._book = Bookkeeping()
        self._calls = CompiledCalls(self._book, self._add_report)
        # (code object, lines of reasons) of each frame that Dynamo compiled again
        self._recompiled: list = []
        # The code object of the last row, until Dynamo is reported to skip it, or the block ends.
        self._last_code: CodeType | None = None
        # Which functions are at the recompile limit. It is None until the block ends.
        self._limit_sentence: str | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record every compile in the block."""
        errors = self._book.lost  # errors of ours are added here, and not raised
        # `explain_recompile` is called for each frame that Dynamo compiles again.
        recompiles = dynamo_reports.collect_recompile_reasons(explain_recompile, errors)
        skips = dynamo_reports.report_skipped_frames(self._note_skip, errors)
        with recompiles as self._recompiled, skips, self._calls.recording():
            try:
                yield
            finally:
                self._limit_sentence = self._book.attempt(self._describe_limit, default="")
                # so that the ledger keeps no code object of the user's alive
                self._recompiled = []
                self._last_code = None

    def _add_report(self, report: FrameReport) -> None:
        """Add a row to the ledger for a frame that Dynamo compiled, or tried to.

        `CompiledCalls` calls this for each such frame. No row is added for a frame of an unknown
        function, nor for the first compile of a frame without tensor ops.
        """
        code = report.code
        verdict = self._judge(report)
        is_without_ops = report.metrics.graph_op_count is None
        # Where the code object is not known, `code` is torch's metrics, whose name may be missing.
        if not code.co_name or (verdict.word == "compile" and is_without_ops):
            return

        # torch's result of compiling a frame contains the new cache entry, if there is one
        entry = getattr(report.guarded_code, "guarded_code", None)
        size_sentences = describe_dynamic_sizes(entry) if entry else ()
        note = "\n".join((verdict.note, *size_sentences))
        note = use_users_names_of_frame(note, code, report.frame_locals)
        # The last line names the user's call, such as `in call 2 (train.py:30)`.
        if report.call is not None and report.caller:
            caller = report.caller
            place = format_file_line(caller.f_code.co_filename, caller.f_lineno)
            note += f"\nin call {report.call.number}{place}"

        function = describe_frame(code, report.frame_locals)
        verdicts = Verdict(function), Verdict(verdict.word, TONES[verdict.word])
        self._last_code = code
        self._rows.append(CompileEntry(str(len(self._rows) + 1), verdicts, note))

    def _judge(self, report: FrameReport) -> CallVerdict:
        """Return the verdict on a frame and the reasons for it.

        It is "compile" for a first compile, "recompile" for a further one, "eager" where plain
        Python ran the frame instead, and "error" where Dynamo failed.
        """
        metrics = report.metrics
        reason = self._find_recompile_reason(report)  # "" for a first compile

        if report.at_limit:
            note = f"recompile_limit is {read_recompile_limit()}: plain Python ran\n{reason}"
            return CallVerdict("eager", note.rstrip())
        if metrics.fail_type:
            return CallVerdict("error", f"{describe_failure(metrics)}\n{reason}".strip())
        if not reason:
            return CallVerdict("compile", NO_ENTRY)
        if metrics.graph_op_count is None:
            note = f"Dynamo found no tensor op to compile, and plain Python ran\n{reason}"
            return CallVerdict("eager", note)
        return CallVerdict("recompile", reason)

    def _find_recompile_reason(self, report: FrameReport) -> str:
        """Return lines on the guards for which Dynamo compiled a frame again; "" for a first time.

        If reading the failed guards has found nothing, torch's own words are returned.
        """
        torchs_reason = report.metrics.recompile_reason
        if not torchs_reason:
            return ""
        reported_reasons = [reasons for code, reasons in self._recompiled if code is report.code]
        if reported_reasons and reported_reasons[-1]:  # of the latest compile of this code
            return "\n".join(reported_reasons[-1])
        return quote_torch(torchs_reason)

    def _note_skip(self, code: CodeType, reason: str, is_start: bool) -> None:
        """Change the last row from "error" to "eager" if plain Python ran its frame after all.

        `dynamo_reports.report_skipped_frames` calls this for each frame that Dynamo leaves to
        Python. If Dynamo failed to compile the frame of the last row and then skips it, the user's
        call raises no error.
        """
        if self._last_code is not code:
            return
        self._last_code = None  # a later skip of the same code is not about this row
        row = self._rows[-1]
        if row.verdict == "error":
            function, _ = row.verdicts
            self._rows[-1] = CompileEntry(
                row.subject,
                (function, Verdict("eager", TONES["eager"])),
                f"Dynamo gave it up, and plain Python ran\n{row.note}",
            )

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        calls = self._calls
        # If an error of ours has stopped some recording, the counts may be too low.
        is_measured = calls.is_measured and not self._book.lost
        ledger = CompileLedger(
            "Compiled in the block",
            "number",
            ("function", HEADINGS[1]),
            tuple(self._rows),
            marks=MARKS,
            calls=calls.call_count,
            compiled_calls=calls.compiled_count if is_measured else None,
            plain=calls.plain_count if is_measured else None,
            unknown=calls.unknown_count,
        )
        return replace(ledger, note=" ".join(self._describe_block(ledger)))

    def _describe_block(self, ledger: CompileLedger) -> list[str]:
        """Return the sentences below the ledger: counts, and why plain Python ran."""
        compiles = format_count(ledger.compiles, "compile")
        recompiles = format_count(ledger.recompiles, "recompile")
        sentences = [f"{compiles}, {recompiles} among them."]

        # Two rows of one call, or the row of a resume function: a reader may wonder why.
        matches = [CALL_LINE.search(row.note) for row in self._rows]
        call_lines = [match[0] for match in matches if match]
        has_call_twice = len({*call_lines}) < len(call_lines)
        if has_call_twice or ", resumed" in str(ledger.entries):
            sentences.append(ROW_IS_FRAME)
        sentences.append(self._calls.summary())

        if self._calls.plain_count:
            is_running = self._limit_sentence is None  # the block has not ended
            sentences.append(self._describe_limit() if is_running else self._limit_sentence)
        if self._book.lost:
            sentences.append(RECORDING_FAILED.format(describe_error(self._book.lost[0])))
        return [sentence for sentence in sentences if sentence]

    def _describe_limit(self) -> str:
        """Return a sentence on the functions at the recompile limit; "" if there is none."""
        limit = read_recompile_limit()
        codes_at_limit = [
            code
            for code in dynamo_codes.list_met_codes()
            if len(dynamo_codes.read_cache_entries(code)) >= limit
        ]
        if not codes_at_limit:
            return ""
        names = dict.fromkeys(map(describe_code, codes_at_limit))
        functions = format_names([*names], MOST_FUNCTIONS)
        return f"With recompile_limit {limit}, Dynamo compiles no more of {functions}."
