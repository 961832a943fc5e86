// Bundled by tools/bundle_scripts.py from helpers/view/scripts/recap.js, sha256 956197a7b3a50800f3006233cbac74d6a00049d86db937b018c95e9f5e130afa
(() => {
  // recap.js
  var RECAP = '[role="region"][aria-label="What you predicted"]';
  var RIGHT = "✓";
  var WRONG = "✗";
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
  function asText(text) {
    return text.replaceAll("`", "");
  }
  function fillCell(cell, text) {
    cell.textContent = text;
    cell.style.whiteSpace = "pre-wrap";
  }
  function describeScore(marks) {
    const right = marks.filter((mark) => mark === RIGHT).length;
    const wrong = marks.filter((mark) => mark === WRONG).length;
    return `You decided ${right + wrong} of ${marks.length} and got ${right} right. Only this page remembers it, until you leave.`;
  }
})();
