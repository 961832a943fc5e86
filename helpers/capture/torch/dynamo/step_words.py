"""What one instruction added while Dynamo translated it -> its lane, and a sentence."""

from collections.abc import Sequence

from helpers.capture.torch.dynamo.text import clipped


def lane(made: Sequence[str], guarded: Sequence[str]) -> str:
    """Return the kind of step: it adds to the graph, takes a guard, or does neither."""
    return "graph" if made else "guard" if guarded else "stack"


def does(made: Sequence[str], guarded: Sequence[str], cause: str) -> str:
    """Return in a sentence what comes of the instruction; `cause`: why it is not translated."""
    if cause:
        return f"{cause}."
    parts = []
    if made:
        parts.append(f"adds to the graph: {clipped('; '.join(made))}")
    if guarded:
        more = f", and {len(guarded) - 1} more" if len(guarded) > 1 else ""
        parts.append(f"takes a guard: {clipped(guarded[0])}{more}")
    if not parts:
        return "moves words on the symbolic stack; nothing is computed."
    return f"{'; '.join(parts)}."
