"""A shared library -> the names that it exports, and the slots through which it calls others.

ELF (Linux): exported are the dynamic symbols, .dynsym. Mach-O (macOS): the external ones of
LC_SYMTAB. Slots (Linux only): a call into another library goes through the global offset table, one
slot per function, filled in when it is first called: to C what a name in a module's `__dict__` is
to Python. Layouts: man 5 elf, mach-o/loader.h.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path

ELF, ELF_64, MACH_O = b"\x7fELF", b"\x02\x01", b"\xcf\xfa\xed\xfe"
DYNSYM, RELOCATIONS, SYMBOL = 11, 4, 24
MACH_SYMTAB, MACH_TYPE, MACH_EXTERNAL, MACH_DEFINED = 2, 0x0E, 0x01, 0x0E
JUMP_SLOTS = {62: 7, 183: 1026}  # machine -> the number of its JUMP_SLOT: x86-64, aarch64


def exported(path: Path, pattern: str) -> list[str]:
    """Return, sorted, the exported names whose beginning the regular expression matches."""
    wanted = re.compile(pattern.encode()).match
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = {ELF: _elf, MACH_O: _mach_o}.get(bytes(data[:4]))
        if reader is None or (reader is _elf and data[4:6] != ELF_64):
            raise ValueError(f"{path.name} is neither a 64-bit ELF nor a 64-bit Mach-O file")
        return sorted(name.decode() for name in reader(data) if wanted(name))


def import_slots(path: Path) -> dict[str, int]:
    """Return where in memory each imported function's slot is, by the function's name."""
    data = path.read_bytes()
    (machine,) = struct.unpack_from("<H", data, 18)
    maps, slots = Path("/proc/self/maps"), {}
    if data[:6] != ELF + ELF_64 or machine not in JUMP_SLOTS or not maps.exists():
        return {}
    lines = maps.read_text("utf-8", "replace").splitlines()
    mine = [line.split() for line in lines if line.endswith(f"/{path.name}")]
    pages = [(*(int(end, 16) for end in line[0].split("-")), line[1]) for line in mine]
    base, sections = min((start for start, _, _ in pages), default=0), _read_sections(data)
    for _, of, _, _, start, size, link, *_ in sections:
        rows = data[start : start + size] if of == RELOCATIONS else b""
        for offset, info, _ in struct.iter_unpack("<QQq", rows):
            if info & 0xFFFFFFFF == JUMP_SLOTS[machine]:
                symbols, place = sections[link], base + offset
                (at,) = struct.unpack_from("<I", data, symbols[4] + SYMBOL * (info >> 32))
                if any(first <= place < end and "w" in rights for first, end, rights in pages):
                    slots[_name(data, sections[symbols[6]][4] + at).decode()] = place
    return slots


def _read_sections(data) -> list[tuple]:
    """Return the section headers of an ELF file."""
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    places = range(start, start + size * count, size)
    return [struct.unpack_from("<IIQQQQIIQQ", data, place) for place in places]


def _elf(data) -> Iterator[bytes]:
    """Yield every defined dynamic symbol."""
    sections = _read_sections(data)
    for _, kind, _, _, start, size, link, *_ in sections:
        if kind == DYNSYM:
            names = sections[link][4]
            for row in struct.iter_unpack("<IBBHQQ", data[start : start + size]):
                if row[0] and row[3]:
                    yield _name(data, names + row[0])


def _mach_o(data) -> Iterator[bytes]:
    """Yield every defined external symbol."""
    (count,) = struct.unpack_from("<I", data, 16)
    place = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, place)
        if command == MACH_SYMTAB:
            start, rows, names = struct.unpack_from("<III", data, place + 8)
            for row in struct.iter_unpack("<IBBHQ", data[start : start + rows * 16]):
                if row[1] & MACH_EXTERNAL and row[1] & MACH_TYPE == MACH_DEFINED:
                    yield _name(data, names + row[0]).removeprefix(b"_")
        place += size


def _name(data, start: int) -> bytes:
    return data[start : data.find(b"\0", start)]
