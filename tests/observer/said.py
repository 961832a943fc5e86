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
SAID |= {("show_journey with ways", sense): r"torch\.compile" for sense in OF_AN_IMPORT}
