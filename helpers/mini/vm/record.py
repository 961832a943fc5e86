"""One run of the machine -> a record: every instruction, where it is, and the stack before it."""

import re
import reprlib
from dataclasses import dataclass, replace

from helpers.mini.vm.decoding import Decoded
from helpers.safety.arguments import kind_of, printable

LONGEST = 60
MOST_STEPS = 20_000
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class _Short(reprlib.Repr):
    """Short reprs of containers; of anything else without its address, which would differ."""

    def repr_instance(self, x, level):
        return _words(repr, x)


_short = _Short()
_short.maxstring = LONGEST


@dataclass(frozen=True)
class Step:
    """One instruction that is about to run: `stack` holds short reprs, the top at the right.

    `function` is the code's qualified name, `depth` how many frames are below it in this run,
    `offset` in bytes, `argument` as `dis` shows it.
    """

    function: str
    depth: int
    offset: int
    opname: str
    argument: str
    stack: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """A recorded run. `value` is what it returned, `error` what it raised; one of them is None.

    `cut` says that steps after the first MOST_STEPS were run and not recorded.
    """

    steps: tuple[Step, ...]
    value: object = None
    error: BaseException | None = None
    cut: bool = False


def words(value) -> str:
    """Return a short repr of anything, without addresses; a placeholder if its repr raises.

    What cannot be printed in a repr is spelled out.
    """
    return _words(_short.repr, value)


def _words(asked, value) -> str:
    try:
        return printable(ADDRESS.sub("", asked(value)), LONGEST)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"<{kind_of(value)}: its repr raised {kind_of(error)}>"


class Recorder:
    """Decoded code -> the same code with handlers that write a step before they run."""

    def __init__(self):
        self.steps: list[Step] = []
        self.cut, self._lowest = False, None
        self._watched: dict[int, Decoded] = {}

    def watch(self, decoded: Decoded) -> Decoded:
        """Return `decoded` with every handler wrapped; the same one for the same code."""
        known = self._watched.get(id(decoded.code))
        if known is None:
            steps = [
                (self._recording(handler, instruction), argument)
                for (handler, argument), instruction in zip(
                    decoded.steps, decoded.instructions, strict=True
                )
            ]
            known = self._watched[id(decoded.code)] = replace(decoded, steps=steps)
        return known

    def _recording(self, handler, instruction):
        def record_and_run(frame, argument):
            self._record(frame, instruction)
            return handler(frame, argument)

        return record_and_run

    def _record(self, frame, instruction):
        if len(self.steps) >= MOST_STEPS:
            self.cut = True
            return
        if self._lowest is None:
            self._lowest = frame.depth
        self.steps.append(
            Step(
                frame.code.co_qualname,
                frame.depth - self._lowest,
                instruction.offset,
                instruction.opname,
                instruction.argrepr,
                tuple(map(words, frame.stack)),
            )
        )
