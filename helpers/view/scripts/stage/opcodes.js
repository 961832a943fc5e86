// Names of instructions -> how they are shown.

const LONG_OPNAME = 15; // letters; of a longer one the first part gives way, the last one stays
const MOST_LETTERS = 34; // of a row, for which the column gets room

/** Return an instruction as it is named: its opcode and its argument. */
export function nameInstruction({ opname, argument }) {
  return `${opname} ${argument}`.trim();
}

/** Return the first part of a long name, which may be cut, and the rest, which may not. */
export function splitOpname(opname) {
  const last = opname.length > LONG_OPNAME ? opname.search(/_(IF_)?(NOT_)?[A-Z]+$/) : -1;
  return { start: opname.slice(0, Math.max(0, last)), end: opname.slice(Math.max(0, last)) };
}

/** Return the offset that a handler goes to ("go to 24 …"), or NaN. */
export function findHandlerOffset(handler) {
  return Number(/go to (\d+)/.exec(handler)?.[1]);
}

/** Return the letters for which the column of instructions gets room: those of the longest row. */
export function countLetters(rows) {
  const lengths = rows.map(({ opname, argument, to }) => {
    const name = to < 0 ? Math.max(LONG_OPNAME, opname.length) : opname.length;
    return name + argument.length;
  });
  return Math.min(MOST_LETTERS, Math.max(...lengths));
}
