// Rows of instructions and a place in the source -> the rows that come from there.

/** Return the rows with the narrowest span around a place; all have the same span. */
export function findRowsAt(rows, line, column) {
  const around = rows.filter(({ span }) => span && startsOnLineAround(span, line, column));
  if (!around.length) {
    return [];
  }
  const least = Math.min(...around.map(({ span }) => measureSpan(span)));
  const { span: narrowest } = around.find(({ span }) => measureSpan(span) === least);
  return around.filter(({ span }) => String(span) === String(narrowest));
}

/** Return whether a span begins on a line and has a column of it. */
function startsOnLineAround([startLine, start, endLine, end], line, column) {
  const isBeforeEnd = endLine > line || column < end;
  return startLine === line && column >= start && isBeforeEnd;
}

function measureSpan([line, column, endLine, endColumn]) {
  return (endLine - line) * 1e4 + endColumn - column;
}
