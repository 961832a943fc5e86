// A question and what is decided -> the words that tell how it ended.

/** Return the words on a decision: `mark` in bold, then `text`, then the reason `why`. */
export function wordVerdict({ choices, answer, verb, why, picked, checked, skipped }) {
  const stop = /[.!?]$/.test(choices[answer]) ? "" : ".";
  const ran = `${verb} ${choices[answer]}${stop} `;
  if (skipped) {
    return { mark: "Skipped:", text: ` it ran and ${ran}`, why };
  }
  if (!checked) {
    return { mark: "", text: "", why: "" };
  }
  if (picked < 0) {
    return { mark: "", text: "Choose one first, or skip the question.", why: "" };
  }
  if (picked === answer) {
    return { mark: "✓ Right:", text: ` it ran and ${ran}`, why };
  }
  const chose = ` you chose ${choices[picked]}; running it ${ran}`;
  return { mark: "✗ Not this time:", text: chose, why };
}

/** Return what stands beside a choice; "" where nothing is picked, or it is neither. */
export function wordMark(index, answer, picked) {
  if (picked < 0) {
    return "";
  }
  if (index === answer) {
    return index === picked ? "✓ your choice, and right" : "✓ right";
  }
  return index === picked ? "✗ your choice" : "";
}

/** Return pieces of a text; what stands between `backticks` is code, unless one has no partner. */
export function splitCode(text) {
  const pieces = text.split("`");
  if (pieces.length % 2 === 0) {
    return [{ text, isCode: false }];
  }
  return pieces.map((piece, i) => ({ text: piece, isCode: i % 2 === 1 }));
}
