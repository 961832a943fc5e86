// Spans of source code: [line, column, end line, end column], lines from 1; line 0 is no place.

/** Return whether a place [line, column] lies in a span. */
export function covers([line, column, endLine, endColumn], place) {
  return line > 0 && !isBefore(place, [line, column]) && isBefore(place, [endLine, endColumn]);
}

/** Return a number that grows with the length of a span; more lines are always longer. */
export function measureSpan([line, column, endLine, endColumn]) {
  return (endLine - line) * 1000 + endColumn - column;
}

/** Return pieces of each line, cut at every place where some span begins or ends. */
export function cutLines(lines, spans) {
  const cuts = lines.map((line) => new Set([0, [...line].length]));
  for (const [line, column, endLine, endColumn] of spans) {
    if (line) {
      cuts[line - 1]?.add(column);
      cuts[endLine - 1]?.add(endColumn);
    }
  }
  return lines.map((line, i) => cutLine([...line], i + 1, cuts[i]));
}

function cutLine(letters, number, cuts) {
  const columns = [...cuts].filter((column) => column <= letters.length);
  columns.sort((a, b) => a - b);
  return columns.slice(0, -1).map((column, i) => ({
    place: [number, column],
    text: letters.slice(column, columns[i + 1]).join(""),
  }));
}

function isBefore(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
