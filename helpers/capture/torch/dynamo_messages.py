"""Dynamo's messages and names -> the same text in each run, and the parts of a message.

This is the one place where addresses, ids, counters and folders are removed from what Dynamo says.
torch/_dynamo/exc.py writes the messages, torch/_dynamo/resume_execution.py the names.
"""

import re
from os.path import basename

from ...model.phrase import format_names
from ..text.value import format_text

MOST_KINDS = 3  # kinds of guards on one value that are written out
MOST_LINES = 40  # of a whole message
LONGEST = 300  # characters of a message of one line that is not shown a second time
EMPTY_HEADING = "Developer debug context:"
LINK = "For more details about this graph break, please visit:"
JUMP = "Data-dependent branching"
JUMP_EXPLANATION = "where to jump depends on a value that Dynamo does not know while it translates"
HEADING = re.compile(r"(?m)^ *(Explanation|Hint|Developer debug context|from user code): ?")
IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")
RESUME_FUNCTION = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")  # the name of its code
RESUME_GLOBAL = re.compile(r"__resume_at_(\d+)")  # the name by which new code calls it
GRAPH_GLOBAL = re.compile("__compiled_fn")  # the name by which new code calls a graph

# what differs from run to run, and what replaces it
_VARYING = (
    (re.compile(r"__compiled_fn_\d+\w*"), "__compiled_fn"),
    (re.compile(r"__resume_at_(\d+)_\d+"), r"__resume_at_\1"),
    (re.compile(r"__builtins_dict___\d+"), "builtins"),
    (re.compile(r"(?: at )?0x[0-9a-fA-F]{4,}"), ""),
    (re.compile(r"[^\s'\"`]*site-packages[/\\]"), ""),
    (re.compile(r"(?:[A-Za-z]:)?[^\s'\"`(]*[/\\]ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[\w.+ -]+[/\\])+(?=[\w.-]+\.py)"), ""),
    (re.compile(r"(?<![\w.])\d{9,}(?![\w.])"), "<id>"),
)


def remove_varying_parts(text: str) -> str:
    """Return a text of Dynamo's without addresses, ids, counters and folders."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def clean_message(text: str) -> str:
    """Return a text of Dynamo's without its varying parts and without its link to a web page."""
    before_link = text.partition(LINK)[0]
    return remove_varying_parts(before_link).rstrip()


def format_whole_message(error: BaseException) -> str:
    """Return the whole message of an error as lines; "" if the message is one short line only.

    Torch puts the cause, the hint and the user's own line on different lines. Lines of carets and
    empty headings are left out, and the middle of a message of very many lines.
    """
    try:
        message = str(error)
    except Exception:  # the `__str__` of a user's class may raise anything
        return ""

    lines = [line.rstrip() for line in remove_varying_parts(message).split("\n")]
    lines = [line for line in lines if line.strip(" ^~") and line.strip() != EMPTY_HEADING]
    if len(lines) < 2 and len(message) <= LONGEST:
        return ""

    left_out = lines[MOST_LINES // 2 : -MOST_LINES // 2]  # the middle
    if left_out:
        lines[MOST_LINES // 2 : -MOST_LINES // 2] = [f"… {len(left_out):,} more lines …"]
    return "\n".join(lines)


def format_source(name: str) -> str:
    """Return where a value comes from as a learner writes it: `G['torch'].abs` is `torch.abs`."""
    name = IMPORTED.sub(_format_imported_module, clean_message(name))
    name = re.sub(r"[LG]\['([\w.]+)'\]", r"\1", name)
    name = re.sub(r"\bbuiltins\['(\w+)'\]", r"\1", name)
    return format_text(re.sub(r"___stack(\d+)", r"stack \1", name))


def _format_imported_module(match: re.Match) -> str:
    """Return the global of a module that Dynamo imported, under the module's own dotted name."""
    module = match[1].replace("_dot_", ".")
    return f"G['{module}']"


def group_guards(guards) -> list[str]:
    """Return lines such as `x: TENSOR_MATCH`, with the guards on one value in one line."""
    kinds_by_name = {}
    for guard in guards:
        name, _, kind = guard.rpartition(": ")
        kinds_by_name.setdefault(name, []).append(kind)

    for name, kinds in kinds_by_name.items():
        if len(kinds) > MOST_KINDS:
            shortest_first = sorted(kinds, key=lambda kind: (len(kind), kind))
            kinds_by_name[name] = [format_names(shortest_first, 2)]

    return [f"{name}: {', '.join(kinds)}" for name, kinds in kinds_by_name.items()]


def split_message(message: str) -> tuple[str, str]:
    """Return the cause and the explanation in a message of Dynamo's about a graph break.

    The first line is the cause. In a message without headings the other lines are the explanation.
    """
    if message.startswith("generic_jump"):
        return JUMP, JUMP_EXPLANATION

    first_line, *other_lines = clean_message(message).strip().split("\n")
    explanations = find_sections(message, "Explanation")
    if not explanations and not find_sections(message, "Hint"):
        explanations = [" ".join(line.strip(" ^~") for line in other_lines)]

    cause = first_line.strip().rstrip(".") or "no reason given"
    explanation = " ".join(" ".join(explanations).split())
    return cause, explanation


def choose_message(short: str, whole: str) -> str:
    """Return the message that explains a break: torch's reason for it, or the whole error.

    For a jump, torch's reason has no explanation; where the error has one, the error is returned.
    """
    if short.startswith("generic_jump") and HEADING.search(whole):
        return whole
    return short


def find_sections(message: str, heading: str) -> list[str]:
    """Return the text below each `heading:` in a message of Dynamo's, up to the next heading."""
    sections = []
    is_wanted = False

    for line in clean_message(message).split("\n"):
        match = HEADING.match(line)
        if match:
            is_wanted = match[1] == heading
            if is_wanted:
                sections.append(line[match.end() :].strip())
        elif is_wanted and line.strip():
            sections[-1] += f" {line.strip()}"

    return sections


def find_page(message: str) -> str:
    """Return the address of the web page that a message of Dynamo's links to; "" for none."""
    after_link = message.partition(LINK)[2].split()
    return after_link[0] if after_link else ""


def format_file_line(path: str, lineno: int) -> str:
    """Return ` (train.py:45)` for a line of a file; "" for a cell or other text in memory."""
    name = clean_message(path)
    if name.startswith("<"):
        return ""
    return f" ({basename(name)}:{lineno})"


def split_resume_name(name: str) -> tuple[str, int]:
    """Return the function that a resume function continues, and the line where it does.

    For the name of any other function, return that name and 0.
    """
    match = RESUME_FUNCTION.fullmatch(name)
    if match is None:
        return name, 0
    return match[1], int(match[2])
