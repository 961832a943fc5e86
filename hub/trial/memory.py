"""A running hub -> what its processes take, in MiB; and what this machine has left."""

import threading

import psutil

from hub.trial.server import HOMES, Hub

MIB = 2**20


def available() -> float:
    """Return how many MiB could still be given out without swapping."""
    return psutil.virtual_memory().available / MIB


def proportional(processes) -> float:
    """Return the MiB of some processes; what several share counts in parts (PSS)."""
    total = 0
    for one in processes:
        try:
            memory = one.memory_full_info()
            total += getattr(memory, "pss", memory.uss)
        except psutil.Error:
            continue  # it ended
    return total / MIB


def core_seconds(processes) -> float:
    """Return how long some processes, and what they started and saw end, kept a core busy."""
    total = 0.0
    for one in processes:
        try:
            times = one.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


class Meter(threading.Thread):
    """Measures the learners of a hub again and again, as a context.

    `peaks`: learner -> the most that server and kernels took at one time; `peak`: the same for the
    whole hub; `least_available`: the least that the machine had left.
    """

    def __init__(self, hub: Hub, every: float = 1.0):
        super().__init__(daemon=True)
        self._hub, self._every, self._over = hub, every, threading.Event()
        self.peaks, self.peak, self.least_available = {}, 0.0, available()

    def __enter__(self) -> "Meter":
        self.start()
        return self

    def __exit__(self, *error) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Measure until the context ends."""
        while not self._over.wait(self._every):
            self.least_available = min(self.least_available, available())
            parts = now(self._hub)
            self.peak = max(self.peak, sum(parts.values()))
            for name, mib in parts.items():
                self.peaks[name] = max(self.peaks.get(name, 0.0), mib)


def now(hub: Hub) -> dict[str, float]:
    """Return learner -> MiB of server and kernels, and "hub" and "proxy" -> theirs."""
    learners = {path.name for path in (hub.folder / HOMES).iterdir()}
    parts = {name: proportional(hub.processes_of(name)) for name in sorted(learners)}
    return {**parts, **{name: proportional([one]) for name, one in hub.own_processes().items()}}
