"""A record of instructions that ran -> the steps of a stack run, each with words and panels."""

from helpers.capture.cpython.code_rows import CodeRows
from helpers.capture.cpython.instruction_words import Told, sentence
from helpers.capture.cpython.opcode_recorder import Fold, Moment, Recorder, Tables
from helpers.capture.cpython.stack_moments import Calls, Values, following
from helpers.capture.cpython.stack_panels import Panels
from helpers.capture.text.source import Pages
from helpers.model.stack import StackStep
from helpers.model.stage import Code


class Draft:
    """A record on its way to steps. `pages` holds the sources that the steps' lines are in."""

    def __init__(self, recorder: Recorder):
        self.recorder, self.pages = recorder, Pages()
        self._codes: dict[int, CodeRows] = {}
        self._panels = Panels(recorder.printed)
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        self._values = Values()

    def listed(self) -> tuple[Code, ...]:
        """Return the instructions of every function that ran, in the order of their first steps."""
        return tuple(rows.listed() for rows in self._codes.values())

    def steps(self):
        """Yield one step per moment and one per run of folds."""
        moments, folds = self.recorder.moments, []
        after, calls = following(moments), Calls(moments, self.recorder.endings)
        for position, moment in enumerate(moments):
            if type(moment) is Fold:
                folds.append(moment)
                continue
            if folds:
                yield self._folded(folds)
                folds = []
            printed = self._printed(moments, position)
            yield self._step(moment, printed, after.get(position), calls)
        if folds:
            yield self._folded(folds)

    def _code(self, tables: Tables) -> CodeRows:
        if id(tables.code) not in self._codes:
            self._codes[id(tables.code)] = CodeRows(tables, self.pages, len(self._codes))
        return self._codes[id(tables.code)]

    def _printed(self, moments, position: int) -> str:
        """Return what this instruction printed: what there is more before the next one."""
        later = (m.printed for m in moments[position + 1 :] if type(m) is Moment)
        end = next(later, self.recorder.printed.size)
        start = moments[position].printed
        return self.recorder.printed.text(end)[start:] if end > start else ""

    def _step(self, moment: Moment, printed: str, after: Moment | None, calls: Calls) -> StackStep:
        code = self._code(moment.activation.tables)
        row = code.rows[moment.offset]
        ending = self.recorder.endings.get(moment.serial, "")
        values, taken = self._values.of(moment, code)
        stack, names, variables = tuple(v.words for v in values), (), ()
        if moment.found is not None:
            names, variables = self._variables(moment, code)
        waiting, shelf = calls.around(moment)
        step = StackStep(
            self._label(code, row, ending),
            code.lines[moment.offset],
            self._panels.of(
                stack, names, moment.printed, code.handlers[moment.offset], moment.found is not None
            ),
            span=row.span,
            says=self._says(moment, code, values, taken, after, ending),
            lane=row.lane,
            function=code.function,
            call=moment.activation.number,
            offset=moment.offset,
            opname=row.opname,
            argrepr=row.argument,
            stack=stack,
            names=names,
            real=moment.found is not None,
            handler=code.handlers[moment.offset],
            printed=printed,
            ending=ending,
            code=code.place,
            values=values,
            taken=taken,
            variables=variables,
            callers=waiting,
            shelf=shelf,
        )
        line = code.lines[moment.offset]
        calls.saw(moment, code.function, line, names, stack[: len(stack) - taken])
        return step

    def _label(self, code: CodeRows, row, ending: str) -> str:
        phrase = f"{row.offset} {row.opname} {row.argument}".rstrip()
        called = f"{code.function} · " if len(self.recorder.codes) > 1 else ""
        return f"{called}{phrase}{f' · {ending}' if ending else ''}"

    def _says(self, moment, code, values, taken, after, ending) -> str:
        row = code.rows[moment.offset]
        took = tuple(v.words for v in values[len(values) - taken :])
        put = None
        if after is not None and after.found is not None and moment.found is not None:
            left = after.found[len(code.tables.names) :]
            put = tuple(w for w, _ in left[len(values) - taken :])
        jumped = after is not None and after.offset == row.target
        told = Told(row.opname, row.argument, took,
                    values[-1].words if values else "", put, jumped, ending,
                    code.handlers[moment.offset])  # fmt: skip
        return sentence(told)

    def _variables(self, moment: Moment, code: CodeRows):
        """Return (name, words) of what is bound, and the values, equal ones stored once."""
        names, variables = [], []
        for name, (words, kind) in zip(code.named, moment.found, strict=False):
            if words in ("NULL", "empty cell"):
                continue
            pair = (name, words.removeprefix("cell: "))
            names.append(self._pairs.setdefault(pair, pair))
            variables.append(self._values.stored(pair[1], kind))
        return tuple(names), tuple(variables)

    def _folded(self, folds: list[Fold]) -> StackStep:
        loops = {}
        for fold in folds:
            code = self._code(fold.activation.tables)
            key = (code.lines[fold.header], code.function)
            loops[key] = loops.get(key, 0) + fold.rounds
        steps = sum(fold.steps for fold in folds)
        rounds = ", ".join(
            f"{n} round{'s' if n > 1 else ''} at line {line}" for (line, _), n in loops.items()
        )
        words = f"… left out: {rounds}; {steps} instructions"
        first = self._code(folds[0].activation.tables)
        return StackStep(
            words, first.lines[folds[0].header], function=first.function, left_out=steps
        )
