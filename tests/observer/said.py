"""What a verb changes on purpose: (verb, what) -> words that its exhibit must contain."""

SAID: dict[tuple[str, str], str] = {}
