"""One function of torch -> who has got hold of its calls meanwhile, and what they left behind."""

import threading

from helpers.internals import torch_private
from helpers.safety.restoring import KEPT

NAMES = ("name", "code", "frame", "function mode", "dispatch mode")
FRAMES = (
    *("sys.settrace", "sys.setprofile", "sys.monitoring"),
    *("the frame evaluator", "torch's frame callback"),
)
MODES = "torch's modes"
_READ = {kept.name: kept.read for kept in KEPT if kept.name in FRAMES}
_READ |= {"torch's frame callback": torch_private.frame_callback, MODES: torch_private.modes}


class Ways:
    """The ways in to softsign, and which of them are taken since this was made."""

    def __init__(self):
        from torch.nn import functional

        self._home, self._own = functional, functional.softsign
        self._code, self._before = self._own.__code__, _read()
        self._names = {**vars(functional)}
        self._threads = threading.gettrace(), threading.getprofile()

    def taken(self) -> list[str]:
        """Return the names of the ways that somebody has taken meanwhile."""
        now, before = _read(), self._before
        found = {
            "name": self._home.softsign is not self._own,
            "code": self._own.__code__ is not self._code,
            "frame": any(now[way] != before[way] for way in FRAMES),
            "function mode": len(now[MODES][1]) != len(before[MODES][1]),
            "dispatch mode": len(now[MODES][0]) != len(before[MODES][0]),
        }
        return [name for name in NAMES if found[name]]

    def left(self) -> str | None:
        """Return what is left behind, if anything is."""
        if self.taken():
            return "somebody is still there: put back what was there before"
        if (threading.gettrace(), threading.getprofile()) != self._threads:
            return "new threads still get its tracer or profiler"
        now, before = vars(self._home), self._names
        if new := sorted({*now} - {*before}):
            return f"torch.nn.functional has a name more: {new[0]}"
        other = [name for name in now if now[name] is not before[name]]
        return f"torch.nn.functional.{other[0]} is not what it was" if other else None

    def put_back(self) -> None:
        """Put back what can be, so that the next means is judged by itself."""
        for name in {*vars(self._home)} - {*self._names}:
            delattr(self._home, name)
        vars(self._home).update(self._names)
        self._own.__code__ = self._code
        threading.settrace(self._threads[0])
        threading.setprofile(self._threads[1])


def _read() -> dict:
    return {name: read() for name, read in _READ.items()}
