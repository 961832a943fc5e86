"""A code object -> the cache entries that Dynamo keeps for it.

A cache entry is what Dynamo keeps of one compilation: the compiled code, and the guards before it.
"""

import re
from types import CodeType

from ...internals import dynamo_codes


def read_cache_entries(code: CodeType) -> list:
    """Return the live cache entries of a code object, in the order in which they were compiled."""
    return select_live_entries(dynamo_codes.read_cache_entries(code))


def select_live_entries(entries: list) -> list:
    """Return the cache entries whose guards can still be checked, the oldest first."""
    # When an object dies that a guard refers to, torch invalidates the entry. Then the guard tree
    # of the entry has no root.
    live_entries = [entry for entry in entries if hasattr(entry.guard_manager, "root")]
    return sorted(live_entries, key=_read_compile_number)


def _read_compile_number(entry) -> list[int]:
    """Return the numbers of a cache entry's compile id: `0/1_2` gives [0, 1, 2]."""
    numbers = re.findall(r"\d+", str(entry.compile_id))
    return [int(number) for number in numbers]


def format_entry_count(count: int) -> str:
    """Return a number of cache entries as words: "1 entry", "2 entries"."""
    noun = "entry" if count == 1 else "entries"
    return f"{count} {noun}"
