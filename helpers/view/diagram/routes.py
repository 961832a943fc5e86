"""A map of routes -> one picture of all settings: who calls, who holds, which function runs.

Rows, holders and functions keep their places; in each setting the arrows lead to what was held. The
order of the model's routes keeps arrows from crossing while patches only add to each other.
"""

from collections.abc import Iterator

from helpers.model.ledger import Entry
from helpers.model.routes import UNKNOWN, Route, RouteMap
from helpers.view import ink
from helpers.view.diagram.moments import Picture
from helpers.view.markup import one_line, render

ROW, CAPTION, TOP = 27, 22, 30  # pixels: a row, the words above a group of rows, the headings
LETTER, WORD = 7.9, 7.1  # width of a letter of code and of words at 13 pixels
ARROWS, FUNCTION = 116, 158  # width of the room for arrows and of a function, at least
GROUPS = {"name": "in modules", "function": "in functions", "object": "in objects"}


def picture(model: RouteMap) -> Picture:
    """Return the picture; in each setting, what differs from the first one is `new`."""
    drawing = _Drawing(model)
    return Picture(drawing.svg(), [drawing.state(at) for at in range(len(model.headings))])


class _Drawing:
    """The places of everything, in pixels."""

    def __init__(self, model: RouteMap):
        self.model = model
        self.tops, self.captions, low = [], [], TOP
        for at, route in enumerate(model.routes):
            if not at or route.kind != model.routes[at - 1].kind:
                self.captions.append((low + 14, GROUPS[route.kind]))
                low += CAPTION
            self.tops.append(low)
            low += ROW
        words = [v.word for entry in model.entries for v in entry.verdicts]
        self.answer = 26 + _wide([r.call for r in model.routes], LETTER) + 16
        self.answer += max(_wide(words, LETTER), 44)
        self.left = self.answer + 34
        self.right = self.left + _wide([r.name for r in model.routes], WORD) + 34
        self.functions = self.right + ARROWS
        labels = [f.label for f in model.functions]
        self.wide = max(FUNCTION, _wide(labels, 11) + 40, _wide(model.codes, LETTER) + 64)
        self.height = max(low, 376) + 8

    def svg(self) -> str:
        """Return the SVG; nothing of it is shown before a state says so."""
        return render(
            "routes.svg",
            model=self.model,
            width=self.functions + self.wide + 8,
            height=self.height,
            answer=self.answer,
            left=self.left,
            right=self.right,
            functions=self.functions,
            captions=self.captions,
            rows=[self._row(at, route) for at, route in enumerate(self.model.routes)],
            arrows=list(self._arrows()),
            boxes=[self._function(at) for at in range(len(self.model.functions))],
            same=self._same(),
        )

    def state(self, setting: int) -> dict[str, str]:
        """Return what is there in a setting."""
        state = {}
        for at, (route, entry) in enumerate(
            zip(self.model.routes, self.model.entries, strict=True)
        ):
            verdict = entry.verdicts[setting]
            tone = {"plain": "shown", "changed": "new"}.get(verdict.tone, "failed")
            state |= {f"r{at}": tone, f"r{at}.{_words(entry).index(verdict.word)}": tone}
            if route.holds[setting] != UNKNOWN:
                state[f"a{at}.{route.holds[setting]}"] = tone
        for at, function in enumerate(self.model.functions):
            code = function.codes[setting]
            changed = code != function.codes[0]
            state |= {f"f{at}": "new" if changed else "shown"}
            state |= {f"f{at}.{code}": state[f"f{at}"]} if code != UNKNOWN else {}
        codes = {function.codes[setting] for function in self.model.functions}
        return state | ({"same": "new"} if len(codes) == 1 and codes != {UNKNOWN} else {})

    def _row(self, at: int, route: Route) -> dict:
        middle = self.tops[at] + ROW // 2
        shape = ink.KINDS[route.kind].shape
        entry = self.model.entries[at]
        return {
            "key": f"r{at}",
            "y": middle,
            "call": one_line(route.call),
            "name": one_line(route.name),
            "ink": route.kind,
            "outline": ink.outline(shape, self.left, middle - 11, self.right - self.left, 22),
            "words": _words(entry),
        }

    def _top(self, function: int) -> int:
        """Return the upper edge of a function: the new one above, the old one below."""
        return 46 if function else self.height - self._high() - 8

    def _high(self) -> int:
        return min(146, (self.height - 110) // 2)

    def _arrows(self) -> Iterator[dict]:
        count = max(len(self.model.routes) - 1, 1)
        for at, route in enumerate(self.model.routes):
            for held in sorted(set(route.holds) - {UNKNOWN}):
                y = self.tops[at] + ROW // 2
                end = self._top(held) + 14 + (self._high() - 28) * at // count
                far, half = self.functions - 9, (self.right + self.functions) // 2
                yield {
                    "key": f"a{at}.{held}",
                    "slot": at,
                    "words": f"{route.name} holds {self.model.functions[held].label}",
                    "line": f"M{self.right} {y}C{half} {y} {half - 9} {end} {far} {end}",
                    "start": (self.right, y),
                    "tip": (self.functions, end),
                }

    def _function(self, at: int) -> dict:
        function, top, high = self.model.functions[at], self._top(at), self._high()
        codes = dict.fromkeys(code for code in function.codes if code != UNKNOWN)
        sheet = (self.functions + 18, top + high - 80, self.wide - 36, 66)
        return {
            "key": f"f{at}",
            "y": top,
            "label": one_line(function.label),
            "outline": ink.outline("round box", self.functions, top, self.wide, high),
            "sheet": ink.outline("sheet", *sheet),
            "corner": sheet,
            "codes": {f"f{at}.{code}": one_line(self.model.codes[code]) for code in codes},
        }

    def _same(self) -> dict:
        """Return the line between two functions that share their code."""
        x, top, low = self.functions + self.wide - 30, self._top(1) + self._high(), self._top(0)
        return {"x": x, "top": top, "low": low, "middle": (top + low) // 2}


def _words(entry: Entry) -> list[str]:
    """Return the different words of an entry, in order."""
    return list(dict.fromkeys(verdict.word for verdict in entry.verdicts))


def _wide(words, letter: float) -> int:
    return round(max((len(one_line(word)) for word in words), default=0) * letter)
