"""Chapter 7: mutants that do what the solution does, and why."""

SAME: dict[str, dict[str, str]] = {}
