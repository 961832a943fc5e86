"""What outlives a job: the registry and the variables. Mirrors framework/session_util.py."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from helpers.mini.oneflow.built_in_ops import built_in_registry
from helpers.mini.oneflow.errors import listed, need
from helpers.mini.oneflow.registry import Registry


@dataclass
class Session:
    """A registry, and variables by name: read-only arrays, replaced by each update."""

    registry: Registry = field(default_factory=built_in_registry)
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    momenta: dict[str, np.ndarray] = field(default_factory=dict)

    def set_variable(self, name, array):
        """Keep a private, read-only copy."""
        self.variables[name] = kept = np.array(array)
        kept.flags.writeable = False


_sessions = [Session()]


def session() -> Session:
    """Return the session in use."""
    return _sessions[-1]


@contextmanager
def fresh_session():
    """Use a new, empty session inside the block; jobs made in it keep it."""
    _sessions.append(Session())
    try:
        yield _sessions[-1]
    finally:
        _sessions.pop()


def clear_default_session():
    """Forget op types, kernels and variables (the original keeps its op types)."""
    _sessions[-1] = Session()


def get_all_variables() -> dict[str, np.ndarray]:
    """Return copies of all variables by name."""
    return {name: array.copy() for name, array in session().variables.items()}


def load_variables(values):
    """Set variables that a job has made already. Mirrors flow.load_variables."""
    known = session().variables
    need(isinstance(values, dict), "load_variables takes a dict: {name: array}")
    for name, value in values.items():
        need(name in known, f'there is no variable "{name}"; there are {listed(known)}')
        value, old = np.asarray(value), known[name]
        need(
            value.shape == old.shape and value.dtype == old.dtype,
            f'variable "{name}" is {old.dtype}{list(old.shape)}, '
            f"the value is {value.dtype}{list(value.shape)}",
        )
    for name, value in values.items():
        session().set_variable(name, value)
