// Lines of Python -> pieces, of which some are keywords.

const KEYWORDS = new Set(
  (
    "and as async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield None True False"
  ).split(" "),
);

// A comment, a string (one in triple quotes may go on), a keyword, or the rest of a name or number.
const TOKENS = /#.*|(?:\b[rbfut]{1,2})?("""|'''|"|')|\b\w+/gi;

/** Return the pieces of each line: `text`, and whether it `isKeyword`. */
export function splitPythonLines(lines) {
  let open = ""; // the triple quotes of a string that goes on from the line above
  return lines.map((line) => {
    const split = splitLine(line, open);
    open = split.open;
    return split.pieces;
  });
}

function splitLine(line, quotes) {
  const pieces = [];
  let from = 0; // where the text begins that is in no piece yet
  let { at, open } = quotes ? findStringEnd(line, 0, quotes) : { at: 0, open: "" };
  while (at < line.length) {
    TOKENS.lastIndex = at;
    const token = TOKENS.exec(line);
    if (!token) {
      break;
    }
    at = TOKENS.lastIndex;
    if (token[1]) {
      ({ at, open } = findStringEnd(line, at, token[1]));
    } else if (KEYWORDS.has(token[0])) {
      pieces.push({ text: line.slice(from, token.index), isKeyword: false });
      pieces.push({ text: token[0], isKeyword: true });
      from = at;
    }
  }
  pieces.push({ text: line.slice(from), isKeyword: false });
  return { pieces: pieces.filter(({ text }) => text), open };
}

/** Return where a string ends that begins at `from`, and its quotes if it goes on in the next line. */
function findStringEnd(line, from, quotes) {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") {
      at++;
    } else if (line.startsWith(quotes, at)) {
      return { at: at + quotes.length, open: "" };
    }
  }
  return { at: line.length, open: quotes.length === 3 ? quotes : "" };
}
