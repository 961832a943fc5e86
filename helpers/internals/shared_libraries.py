"""Read which names a shared library (.so, .dylib) exports, and its slots for imported functions.

The exported names of an ELF file (Linux) are its dynamic symbols, in the section `.dynsym`. Those
of a Mach-O file (macOS) are the external symbols of LC_SYMTAB. The layouts of the files are in
man 5 elf and mach-o/loader.h.

On Linux, a library calls a function of another library through its global offset table. The table
has a slot for each imported function: a pointer to the function, which the dynamic linker fills in.
Who overwrites a slot redirects the calls, as assigning to a name in a Python module does.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# The first bytes of a file, its magic number; the two after ELF's are for 64 bits, little-endian.
ELF = b"\x7fELF"
ELF_64 = b"\x02\x01"
MACH_O = b"\xcf\xfa\xed\xfe"
# Types of an ELF section (sh_type), and the size of a symbol in bytes.
SECTION_DYNSYM = 11
SECTION_RELOCATIONS = 4
SYMBOL_SIZE = 24
# Mach-O: the load command LC_SYMTAB, and bits of a symbol's n_type.
MACH_SYMTAB = 2
MACH_TYPE_MASK = 0x0E
MACH_EXTERNAL = 0x01
MACH_DEFINED = 0x0E
MACH_SYMBOL_SIZE = 16
# The machine of an ELF file (e_machine) -> its relocation type JUMP_SLOT: x86-64, aarch64.
JUMP_SLOTS = {62: 7, 183: 1026}
MEMORY_MAPS = Path("/proc/self/maps")


class _Section(NamedTuple):
    """A section header of an ELF file, Elf64_Shdr, with its fields in the order of the file."""

    name: int
    type: int
    flags: int
    address: int
    #: Where the section begins in the file, in bytes.
    offset: int
    #: How many bytes it has.
    size: int
    #: The number of another section: of a table of symbols, or of names.
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True)
class _MemoryRange:
    """A range of addresses into which a file is loaded."""

    #: Its first address.
    start: int
    #: The address after its last.
    end: int
    #: Whether this process may write to it.
    is_writable: bool


def list_exported_names(path: Path, pattern: str) -> list[str]:
    """Return, sorted, the exported names of a library whose beginning matches `pattern`.

    `pattern` is a regular expression. ValueError if the file is neither a 64-bit ELF nor a 64-bit
    Mach-O file.
    """
    is_wanted = re.compile(pattern.encode()).match
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] == ELF + ELF_64:
            names = _read_elf_names(data)
        elif data[:4] == MACH_O:
            names = _read_mach_o_names(data)
        else:
            raise ValueError(f"{path.name} is neither a 64-bit ELF nor a 64-bit Mach-O file")
        return sorted(name.decode() for name in names if is_wanted(name))


def find_import_slots(path: Path) -> dict[str, int]:
    """Return name -> address of its slot in this process, for the functions that a library imports.

    A slot is a pointer through which the library calls the function. Only slots that can be
    overwritten are returned. The dict is empty where the library is not loaded in this process, and
    on other systems than Linux on x86-64 or aarch64.
    """
    data = path.read_bytes()
    (machine,) = struct.unpack_from("<H", data, 18)  # e_machine, the kind of processor
    is_known = data[:6] == ELF + ELF_64 and machine in JUMP_SLOTS
    if not is_known or not MEMORY_MAPS.exists():
        return {}

    ranges = _list_memory_ranges(path.name)
    # The file has each slot's offset from the address at which the library begins in memory.
    base = min((memory.start for memory in ranges), default=0)
    slots = {}
    for name, offset in _read_jump_slots(data, JUMP_SLOTS[machine]):
        address = base + offset
        # The linker may have made a slot read-only after it filled the slot (RELRO).
        if any(memory.start <= address < memory.end for memory in ranges if memory.is_writable):
            slots[name.decode()] = address
    return slots


def _list_memory_ranges(file_name: str) -> list[_MemoryRange]:
    """Return the ranges of this process's memory into which the file of this name is loaded.

    They are read from /proc/self/maps (man 5 proc). A line of that file is, for example,
    `7f00-7f20 r-xp 00001000 08:01 123 /usr/lib/libm.so`: range, rights, …, file.
    """
    ranges = []
    for line in MEMORY_MAPS.read_text("utf-8", "replace").splitlines():
        if line.endswith(f"/{file_name}"):
            addresses, rights, *_ = line.split()
            start, end = (int(address, 16) for address in addresses.split("-"))
            ranges.append(_MemoryRange(start, end, "w" in rights))
    return ranges


def _read_jump_slots(data: bytes, jump_slot: int) -> Iterator[tuple[bytes, int]]:
    """Yield (name, offset of its slot in memory) for each function that an ELF file imports.

    An ELF file has a relocation (Elf64_Rela) for each slot, which tells the linker to fill the slot
    in. `jump_slot` is the number of that type of relocation on this kind of processor.
    """
    sections = _read_sections(data)
    for section in sections:
        if section.type != SECTION_RELOCATIONS:
            continue
        relocations = data[section.offset : section.offset + section.size]
        for slot_offset, info, _ in struct.iter_unpack("<QQq", relocations):
            # The low half of `info` is the type, and the high half the number of a symbol.
            relocation_type = info & 0xFFFFFFFF
            symbol_number = info >> 32
            if relocation_type != jump_slot:
                continue
            # The section links to its table of symbols, and that to its table of names.
            symbols = sections[section.link]
            names = sections[symbols.link]
            symbol_start = symbols.offset + SYMBOL_SIZE * symbol_number
            (name_offset,) = struct.unpack_from("<I", data, symbol_start)  # st_name
            yield _read_name(data, names.offset + name_offset), slot_offset


def _read_sections(data: bytes | mmap.mmap) -> list[_Section]:
    """Return the section headers of an ELF file, in the order of their numbers."""
    # The header of the file says where the table of sections is: e_shoff, e_shentsize, e_shnum.
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    offsets = range(start, start + size * count, size)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", data, offset)) for offset in offsets]


def _read_elf_names(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the name of every symbol that an ELF file exports.

    They are the symbols in its section of dynamic symbols that the file itself defines.
    """
    sections = _read_sections(data)
    for section in sections:
        if section.type != SECTION_DYNSYM:
            continue
        names = sections[section.link]  # the section with the names of these symbols
        symbols = data[section.offset : section.offset + section.size]
        # The fields of Elf64_Sym: st_name, st_info, st_other, st_shndx, st_value, st_size.
        for name_offset, _, _, section_number, _, _ in struct.iter_unpack("<IBBHQQ", symbols):
            # Section number 0 means that another library defines the symbol.
            if name_offset and section_number:
                yield _read_name(data, names.offset + name_offset)


def _read_mach_o_names(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the name of every external symbol that a Mach-O file defines.

    Compilers on macOS put an underscore in front of each name, which is left out here.
    """
    (command_count,) = struct.unpack_from("<I", data, 16)  # ncmds
    offset = 32  # the first load command follows the header
    for _ in range(command_count):
        command, size = struct.unpack_from("<II", data, offset)
        if command == MACH_SYMTAB:
            # symoff, nsyms, stroff
            symbols_start, count, names_start = struct.unpack_from("<III", data, offset + 8)
            symbols = data[symbols_start : symbols_start + count * MACH_SYMBOL_SIZE]
            for name_offset, symbol_type, *_ in struct.iter_unpack("<IBBHQ", symbols):  # nlist_64
                is_defined = symbol_type & MACH_TYPE_MASK == MACH_DEFINED
                if symbol_type & MACH_EXTERNAL and is_defined:
                    yield _read_name(data, names_start + name_offset).removeprefix(b"_")
        offset += size


def _read_name(data: bytes | mmap.mmap, start: int) -> bytes:
    """Return the bytes from `start` up to the next null byte."""
    return data[start : data.find(b"\0", start)]
