// Characters of a text -> where they lie on the page.

const ABOVE_AND_BELOW = 4; // pixels of a line that count as its letters

/** Return rectangles of text, one for each line on the page. */
export function joinByLine(rectangles) {
  const lines = [];
  for (const { left, right, top, height, width } of rectangles) {
    if (!width) {
      continue;
    }
    const line = lines.find((other) => Math.abs(top - other.top) < other.height / 2);
    if (line) {
      line.left = Math.min(line.left, left);
      line.right = Math.max(line.right, right);
    } else {
      lines.push({ left, right, top, height });
    }
  }
  return lines;
}

/** Return the range of the characters `from` … `to` of an element's text. */
export function makeTextRange(element, from, to) {
  const range = document.createRange();
  const texts = findTexts(element);
  let start = 0; // of a text
  let begun = false;
  for (const text of texts) {
    const end = start + text.length;
    if (!begun && from <= end) {
      range.setStart(text, from - start);
      begun = true;
    }
    if (to <= end || text === texts.at(-1)) {
      range.setEnd(text, Math.min(to - start, text.length));
      break;
    }
    start = end;
  }
  return range;
}

/** Return the column of a line of code that is under the mouse. */
export function findColumn(code, { clientX, clientY }) {
  const size = code.textContent.length;
  for (let n = 0; n < size; n++) {
    const { left, right, top, bottom } = makeTextRange(code, n, n + 1).getBoundingClientRect();
    const isBeside = left <= clientX && clientX < right;
    if (isBeside && top - ABOVE_AND_BELOW <= clientY && clientY < bottom + ABOVE_AND_BELOW) {
      return n;
    }
  }
  return size;
}

function findTexts(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    texts.push(walker.currentNode);
  }
  return texts;
}
