"""What a verb changes on purpose: (verb, what) -> words that its exhibit must contain."""

SAID: dict[tuple[str, str], str] = {}
# What it compares, it must import: the exhibit names each way.
OF_AN_IMPORT = (
    "frameworks",
    "environment",
    "filters",
    "logging",
    "paths",
    "numpy",
    "globals",
    "at exit",
)
# A generator is run to its end, or there would be nothing to see.
OF_GENERATORS = ("watch_names", "watch_frames", "watch_stack")
SAID |= {(verb, "act.stderr"): "The generator was run to its end" for verb in OF_GENERATORS}
SAID |= {("show_journey with ways", sense): r"torch\.compile" for sense in OF_AN_IMPORT}
