"""Texts of an op's files, as they are and as they were -> files whose new lines are known."""

from difflib import SequenceMatcher

from helpers.model.files import File, Files
from helpers.model.phrase import counted
from helpers.safety.file_names import kind, plain_names, shown, text

MOST_COMPARED = 2_000  # lines of a file; of a longer one no line is told to be new


def op_files(files: dict[str, str], before: dict[str, str] | None = None) -> Files:
    """Return the files (name -> text); what `before`, of the same kind, lacks is new.

    TypeError for what is no dict of texts, ValueError for a name that is not plain.
    """
    now = _texts(files)
    old = {} if before is None else _texts(before)
    found = [File(name, words, _new(old, name, words)) for name, words in now.items()]
    told = sum(len(file.new) for file in found) if before is not None else 0
    note = f"+ marks {counted(told, 'new line')}." if told else ""
    return Files(f"The op's {counted(len(found), 'file')}", tuple(found), note)


def _texts(files: object) -> dict[str, str]:
    if not issubclass(type(files), dict):
        raise TypeError(f"the files must be a dict of name -> text, not {kind(files)}")
    given = dict(dict.items(files))
    names = plain_names(given, "the name of a file")
    return {
        name: text(words, f"the file {shown(name)}").strip("\n")
        for name, words in zip(names, given.values(), strict=True)
    }


def _new(old: dict[str, str], name: str, words: str) -> tuple[int, ...]:
    if not old:
        return ()
    before, after = old.get(name, "").split("\n"), words.split("\n")
    if max(len(before), len(after)) > MOST_COMPARED:
        return ()
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {at for block in same for at in range(block.b, block.b + block.size)}
    return tuple(n for n, line in enumerate(after, 1) if n - 1 not in kept and line.strip())
