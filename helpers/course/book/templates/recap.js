// What is decided in the predictions of a page -> its table "What you predicted". In a notebook the
// kernel fills it; here the page does, and has forgotten it when it is opened again.

const RECAP = '[role="region"][aria-label="What you predicted"]'; // show_predictions' title

const plain = (words) => words.replaceAll("`", ""); // a table shows what stands between them as code

function tell(recap, { question, choices, picked, answer }) {
  const rows = [...recap.querySelectorAll("tbody tr")].map(({ cells }) => [...cells]);
  const row = rows.find(([, asked]) => plain(asked.textContent) === plain(question));
  if (!row) return;
  const words = [picked === answer ? "✓" : "✗", null, choices[picked], choices[answer]];
  words.forEach((said, at) => {
    if (said === null) return;
    row[at].textContent = said;
    row[at].style.whiteSpace = "pre-wrap"; // on a phone the question needs the room
  });
  const marks = rows.map(([mark]) => mark.textContent);
  const count = (mark) => marks.filter((one) => one === mark).length;
  recap.nextElementSibling.textContent =
    `You decided ${count("✓") + count("✗")} of ${marks.length} and got ${count("✓")} right. ` +
    "Only this page remembers it, until you leave.";
}

document.addEventListener("book-saved", ({ detail: state }) => {
  if (state.checked && state.picked >= 0) document.querySelectorAll(RECAP).forEach((recap) => tell(recap, state));
});
