"""Choices that make up one call -> a sandbox: what can be picked, and what is picked at first."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from helpers.safety.arguments import shown


@dataclass(frozen=True)
class Control:
    """One choice. It matters for some values of the control `of`, or always where that is empty."""

    name: str
    options: tuple[str, ...]
    of: str = ""
    matters: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """Return the option that is picked at first."""
        return self.options[0]

    def counts(self, picked: dict[str, str]) -> bool:
        """Return whether it matters for these choices."""
        return not self.of or picked[self.of] in self.matters


@dataclass(frozen=True)
class Sandbox:
    """Controls for a call, the `verdicts` that can be foretold, and the same in code.

    `ask`, `button` and `nudge` are the words of the form; `style` is its class in the page.
    """

    title: str
    note: str
    controls: tuple[Control, ...]
    verdicts: tuple[str, ...]
    code: str
    ask: str = "This call will be a"
    button: str = "Run the call"
    nudge: str = "Predict first: hit, trace or error?"
    style: str = "course-sandbox"

    def start(self) -> dict[str, str]:
        """Return what is picked at first: control -> option."""
        return {control.name: control.first for control in self.controls}

    def different(self) -> Iterator[dict[str, str]]:
        """Yield the picks that differ in something that matters, each without the rest."""
        for options in product(*(control.options for control in self.controls)):
            picked = dict(zip(self.start(), options, strict=True))
            rest = {c.name: c.first for c in self.controls if not c.counts(picked)}
            if all(picked[name] == first for name, first in rest.items()):
                yield {name: option for name, option in picked.items() if name not in rest}

    def picked(self, **changes: str) -> dict[str, str]:
        """Return the start with changes. ValueError names a control or an option not there."""
        options = {control.name: control.options for control in self.controls}
        for name, option in changes.items():
            if name not in options:
                there = ", ".join(options)
                raise ValueError(f"there is no control {shown(name)}; there are {there}")
            if type(option) is not str or option not in options[name]:
                can_be = ", ".join(map(repr, options[name]))
                raise ValueError(f"{name} cannot be {shown(option)}; it can be {can_be}")
        return {**self.start(), **changes}


def offered(given: object, options: tuple[str, ...], what: str) -> str:
    """Return the option that `given` is; ValueError says `what` it can be."""
    if type(given) is not str or given not in options:
        raise ValueError(f"{what} {', '.join(options)}; {shown(given)} is none of them")
    return given
