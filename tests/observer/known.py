"""Pairs in which something still differs: (program, verb) -> why. A mended one must leave it."""

KNOWN: dict[tuple[str, str], str] = {}
