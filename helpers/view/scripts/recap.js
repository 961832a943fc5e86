// What is decided in the predictions of a page -> its table "What you predicted". In a notebook the
// kernel fills it; here the page does, and has forgotten it when it is opened again.

const RECAP = '[role="region"][aria-label="What you predicted"]'; // show_predictions' title
const RIGHT = "✓";
const WRONG = "✗";

document.addEventListener("book-saved", ({ detail }) => {
  if (detail.checked && detail.picked >= 0) {
    for (const recap of document.querySelectorAll(RECAP)) {
      fillRecap(recap, detail);
    }
  }
});

function fillRecap(recap, { question, choices, picked, answer }) {
  const rows = [...recap.querySelectorAll("tbody tr")].map(({ cells }) => [...cells]);
  const row = rows.find((cells) => asText(cells[1].textContent) === asText(question));
  if (!row) {
    return;
  }
  const [mark, , choice, truth] = row;
  fillCell(mark, picked === answer ? RIGHT : WRONG);
  fillCell(choice, choices[picked]);
  fillCell(truth, choices[answer]);
  const marks = rows.map((cells) => cells[0].textContent);
  recap.nextElementSibling.textContent = describeScore(marks);
}

/** Return a text without the marks of code, which a table shows as code. */
function asText(text) {
  return text.replaceAll("`", "");
}

function fillCell(cell, text) {
  cell.textContent = text;
  cell.style.whiteSpace = "pre-wrap"; // on a phone the question needs the room
}

function describeScore(marks) {
  const right = marks.filter((mark) => mark === RIGHT).length;
  const wrong = marks.filter((mark) => mark === WRONG).length;
  return (
    `You decided ${right + wrong} of ${marks.length} and got ${right} right. ` +
    "Only this page remembers it, until you leave."
  );
}
