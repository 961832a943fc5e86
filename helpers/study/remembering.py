"""What a learner did in this kernel -> the record in work/, if this kernel has one; and back.

Nothing that goes wrong with the record stops a check or a prediction: it is said, once.
"""

from contextlib import suppress

from helpers.safety import learner_record
from helpers.safety.learner_record import Record

_TOLD: set[str] = set()


def remember(event: dict) -> None:
    """Record an event; where that fails, print why, once in a kernel."""
    path = learner_record.place()
    if path is None:
        return
    with suppress(Exception):
        why = learner_record.add(path, event)
        if why and why not in _TOLD:
            _TOLD.add(why)
            print(why)


def remembered() -> Record:
    """Return what is recorded where this kernel records; nothing where it does not."""
    path = learner_record.place()
    return Record() if path is None else learner_record.read(path)
