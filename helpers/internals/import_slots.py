"""A loaded ELF library -> the slots through which it calls the functions of other libraries.

Linux only. A call into another library goes through a table (the global offset table, .got.plt):
one slot per function, filled in when it is first called. A slot is to C what a name in a module's
`__dict__` is to Python: who puts another address there, rebinds the function for that library.
"""

import struct
from pathlib import Path

ELF, LINK, RELOCATIONS, SYMBOL = b"\x7fELF\x02\x01", 6, 4, 24
JUMP_SLOTS = {62: 7, 183: 1026}  # machine -> the number of its JUMP_SLOT: x86-64, aarch64


def import_slots(path: Path) -> dict[str, int]:
    """Return where in memory each imported function's slot is, by the function's name.

    Empty where that cannot be told: no ELF file of a known machine, not loaded, or the slots lie
    in pages that may not be written. Layouts: man 5 elf, Elf64_Shdr, Elf64_Rela, Elf64_Sym.
    """
    data = path.read_bytes()
    (machine,) = struct.unpack_from("<H", data, 18)
    if data[:6] != ELF or machine not in JUMP_SLOTS:
        return {}
    pages = _pages(path.name)
    base = min((start for start, _, _ in pages), default=0)
    return {
        name: base + offset
        for name, offset in _jump_slots(data, JUMP_SLOTS[machine])
        if any(start <= base + offset < end and "w" in rights for start, end, rights in pages)
    }


def _pages(name: str) -> list[tuple[int, int, str]]:
    """Return start, end and rights of the pages that a file is mapped to."""
    maps = Path("/proc/self/maps")
    text = maps.read_text("utf-8", "replace") if maps.exists() else ""
    lines = [line.split() for line in text.splitlines()]
    mine = [line for line in lines if line[-1].endswith(f"/{name}")]
    return [(*(int(end, 16) for end in line[0].split("-")), line[1]) for line in mine]


def _jump_slots(data: bytes, kind: int):
    """Yield name and offset of each slot of this kind."""
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    places = range(start, start + size * count, size)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, place) for place in places]
    for section in sections:
        if section[1] != RELOCATIONS:
            continue
        symbols = sections[section[LINK]]
        names = sections[symbols[LINK]][4]
        rows = struct.iter_unpack("<QQq", data[section[4] : section[4] + section[5]])
        for offset, info, _ in rows:
            if info & 0xFFFFFFFF == kind:
                (at,) = struct.unpack_from("<I", data, symbols[4] + SYMBOL * (info >> 32))
                yield data[names + at : data.index(b"\0", names + at)].decode(), offset
