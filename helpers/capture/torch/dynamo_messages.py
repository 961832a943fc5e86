"""Dynamo's messages and generated names -> texts that are the same in each run, and their parts.

Addresses, ids, counters and folders are removed: `__compiled_fn_3_a1` becomes `__compiled_fn`. A
message is split into its cause, its explanation and its hint. torch/_dynamo/exc.py writes the
messages, torch/_dynamo/resume_execution.py the names.
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
# the start of a line in a message of Dynamo's that begins a new section
HEADING = re.compile(r"(?m)^ *(Explanation|Hint|Developer debug context|from user code): ?")
IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")  # G['__import_torch_dot_nn']
RESUME_FUNCTION = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")  # the name of its code
RESUME_GLOBAL = re.compile(r"__resume_at_(\d+)")  # the name by which new code calls it
GRAPH_GLOBAL = re.compile("__compiled_fn")  # the name by which new code calls a graph

# (pattern of what differs from run to run, what replaces it)
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

    Such a line is shown elsewhere already. Lines of carets and empty headings are left out, and so
    is the middle of a message of more than `MOST_LINES` lines.
    """
    try:
        message = str(error)
    except Exception:  # the `__str__` of a user's class may raise anything
        return ""

    lines = [line.rstrip() for line in remove_varying_parts(message).split("\n")]
    # not those that only mark a place in the line above, or have a heading and nothing below it
    lines = [line for line in lines if line.strip(" ^~") and line.strip() != EMPTY_HEADING]
    if len(lines) < 2 and len(message) <= LONGEST:
        return ""

    middle = slice(MOST_LINES // 2, -MOST_LINES // 2)
    left_out = lines[middle]
    if left_out:
        lines[middle] = [f"… {len(left_out):,} more lines …"]
    return "\n".join(lines)


def format_source(name: str) -> str:
    """Return where a value comes from as a learner writes it: `G['torch'].abs` is `torch.abs`.

    `name` is torch's text, in which `L` are the locals and `G` the globals of the function.
    """
    name = IMPORTED.sub(_format_imported_module, clean_message(name))
    name = re.sub(r"[LG]\['([\w.]+)'\]", r"\1", name)  # L['x'] -> x
    name = re.sub(r"\bbuiltins\['(\w+)'\]", r"\1", name)  # builtins['len'] -> len
    return format_text(re.sub(r"___stack(\d+)", r"stack \1", name))


def _format_imported_module(match: re.Match) -> str:
    """Return `G['torch.nn']` for a match of `G['__import_torch_dot_nn']`."""
    module = match[1].replace("_dot_", ".")
    return f"G['{module}']"


def group_guards(guards) -> list[str]:
    """Return one line for each guarded value, such as `x: TYPE_MATCH, TENSOR_MATCH`.

    `guards` has a line for each guard, such as `x: TENSOR_MATCH`. Of more than `MOST_KINDS` kinds
    of guards on one value, the two with the shortest names are written out.
    """
    kinds_by_name = {}  # name of a value -> kinds of guards on it
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

    The first line is the cause. The explanation is the section with that heading. In a message
    without headings, the other lines are the explanation.
    """
    # For a jump that depends on a tensor, torch writes only an internal name.
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
    """Return the message that explains a graph break best.

    `short` is torch's reason for the break, and `whole` the message of the error. In general
    `short` is the better one. For a jump it explains nothing, so `whole` is returned if it has
    sections such as "Explanation".
    """
    if short.startswith("generic_jump") and HEADING.search(whole):
        return whole
    return short


def find_sections(message: str, heading: str) -> list[str]:
    """Return the text of each section with this heading in a message of Dynamo's, on one line.

    A section begins with a line such as `Hint: avoid print`, and ends before the next heading.
    """
    sections = []
    is_in_section = False  # whether the lines belong to a section with this heading

    for line in clean_message(message).split("\n"):
        match = HEADING.match(line)
        if match:
            is_in_section = match[1] == heading
            if is_in_section:
                sections.append(line[match.end() :].strip())
        elif is_in_section and line.strip():
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
    """Return the name of the function that a resume function continues, and the line where.

    `torch_dynamo_resume_in_step_at_12` gives `step` and 12. The name of any other function is
    returned unchanged, with 0.
    """
    match = RESUME_FUNCTION.fullmatch(name)
    if match is None:
        return name, 0
    return match[1], int(match[2])
