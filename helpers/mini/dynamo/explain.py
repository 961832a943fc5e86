"""Compiled functions -> what came of them: source, graphs, graph breaks, reasons."""


class Seen:
    """Something that is compiled; `_tracing()` lists the caches behind it, one per function."""

    @property
    def why(self) -> str:
        """Return why a part of this ran as plain Python; nothing if none did."""
        return next((one._why for one in self._parts_of_it() if one._why), "")

    @property
    def source(self) -> str:
        """Return the Python that was generated: of every entry, then of what goes on after it."""
        return "\n".join(entry.source for entry in self._all_entries() if entry.source)

    @property
    def graphs(self) -> list:
        """Return the FX graphs, in the order of `source`."""
        return [entry.graph for entry in self._all_entries() if entry.graph is not None]

    @property
    def breaks(self) -> list[str]:
        """Return why the graph broke, once for each break."""
        return [entry.broke for entry in self._all_entries() if entry.broke]

    def _parts_of_it(self) -> list:
        """Return the caches and what goes on after their breaks, in the order of the source."""
        seen, waiting = [], self._tracing()
        while waiting:
            compiled = waiting.pop(0)
            if not any(compiled is one for one in seen):
                seen.append(compiled)
                waiting += [rest for entry in compiled.entries for rest in entry.resumes]
        return seen

    def _all_entries(self):
        return [entry for part in self._parts_of_it() for entry in part.entries]
