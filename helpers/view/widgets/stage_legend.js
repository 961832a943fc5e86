// A key to the signs that this very stage uses, behind a small button.

/** [sign, meaning] of what this script has something for. */
function signsOf(script) {
  const has = (test) => script.tracks.some(test);
  const stacked = has((t) => t.stack);
  return [
    ["amber", "now: what runs next, and what it touches"],
    script.lines.length && ["1 underlined", "a line of the source that runs: click its number to go there"],
    script.total < MOST_RULED && has((t) => t.line) && [NEW_LINE, "in the strip of all steps: another source line begins, in this call or in another one"],
    has((t) => t.left) && ["↩ ✕", "the line that was just left, and how; ▶ is the one that runs next"],
    script.total < MOST_RULED && raises(script).length && [RAISES, "in the strip of all steps: this step raises an exception"],
    script.codes.length && ["grey instruction", "not run in any step here"],
    stacked && script.codes.length && ["dashed at the right", "just popped"],
    stacked && ["+", "on a value of the stack: the next result goes here, once the value is popped"],
    stacked && script.codes.length && ["NULL", NULL_MEANS.slice("NULL: ".length)],
    script.codes.some((code) => code.rows.some((row) => row.to >= 0)) && ["arc", "a jump: thick if it is taken next, dashed if not"],
    script.codes.some((code) => code.names.some((name) => name.endsWith(" (cell)"))) && ["pill", "a shared cell: inner functions use this variable too"],
  ].filter(Boolean);
}

function makeKey(script) {
  const list = make("dl", "stage-key", "");
  for (const [sign, means] of signsOf(script)) list.append(make("dt", "", sign), make("dd", "", means));
  list.hidden = true;
  const button = make("button", "stage-button stage-key-button", "?", { type: "button", "aria-expanded": "false", "aria-label": "Key to the signs" });
  button.title = "Key to the signs";
  const turn = (open) => {
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => turn(list.hidden));
  return { button, list };
}
