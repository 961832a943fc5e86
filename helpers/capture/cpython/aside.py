"""The program's own tracer and profiler, in whose place a verb sets one -> a sentence on that."""

from ...internals.frame_tracer import FrameTracer
from ...internals.own_profilers import OwnProfilers

TRACER, PROFILER = "your tracer (sys.settrace)", "your profiler (sys.setprofile)"
CHANGED = "Meanwhile {} did not run, until your code set what is there now."


def say_aside(tracer: FrameTracer | None = None, profiler: OwnProfilers | None = None) -> str:
    """Return the sentences on what of the program's own did not run; "" if it had set nothing."""
    hooks = {TRACER: tracer, PROFILER: profiler}
    aside = {words: hook.is_set_again for words, hook in hooks.items() if hook and hook.had_own}
    return say_set_again(aside)


def say_set_again(aside: dict[str, bool]) -> str:
    """Return the sentences for the words of each hook, and whether the verb has set it again."""
    again = [words for words, is_again in aside.items() if is_again]
    sentences = [CHANGED.format(words) for words in aside if words not in again]
    if again:
        now = "they are" if len(again) > 1 else "it is"
        both = " and ".join(again)
        sentences.append(f"Meanwhile {both} did not run; now {now} set again.")
    return " ".join(sentences)
