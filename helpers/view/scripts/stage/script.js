// A script (JSON, see widgets/stage_script.py) -> its steps, each with all that it shows.

const PICTURE_STATES = ["", "shown", "new", "ghost"]; // by the letter that stands for them

/** Return the script with `step(n)`, and the same call's step `before(n)` and `after(n)`, or null. */
export function readScript(text) {
  const script = JSON.parse(text);
  const tracks = script.steps;
  const codes = script.codes.map(readCode);
  const pools = makePools(script);
  const readPicture = makePictureReader(script.picture);
  const steps = new Map();

  const step = (n) => {
    if (!steps.has(n)) {
      steps.set(n, readStep(tracks[n], n, { script, codes, pools, readPicture }));
    }
    return steps.get(n);
  };
  const isSameCall = (i, n) => tracks[i].stack && tracks[i].call === tracks[n].call;
  const before = (n) => {
    for (let i = n - 1; i >= 0; i--) {
      if (isSameCall(i, n)) {
        return step(i);
      }
    }
    return null;
  };
  // a run of steps that were left out stands for steps of any call: what follows it is not known
  const after = (n) => {
    for (let i = n + 1; i < tracks.length && tracks[i].stack; i++) {
      if (isSameCall(i, n)) {
        return step(i);
      }
    }
    return null;
  };
  return { ...script, tracks, codes, step, before, after };
}

/** Return a code object whose rows know the row `to` that they jump to, or -1. */
function readCode(code) {
  const rows = code.rows.map(([offset, opname, argument, lane, span, target]) => ({
    offset,
    opname,
    argument,
    lane,
    span,
    target,
  }));
  const at = new Map(rows.map((row, n) => [row.offset, n]));
  for (const row of rows) {
    row.to = at.get(row.target) ?? -1;
  }
  return { ...code, rows, at };
}

/** Return what reads the pools of a script, in which all that recurs stands once. */
function makePools({ words, values, cards }) {
  const word = (n) => words[n] ?? "";
  const value = (n) => {
    if (n < 0) {
      return null;
    }
    const [text, kind, same, key] = values[n];
    return { words: word(text), kind: word(kind), same: word(same), key };
  };
  const card = (n) => {
    const [number, name, line, state, pairs, stack] = cards[n];
    const names = pairs.map(([variable, text]) => [word(variable), word(text)]);
    return { number, name: word(name), line, state: word(state), names, stack: stack.map(word) };
  };
  return { word, value, card };
}

/** Return a function: a letter for each key of the picture -> the states of those that are there. */
function makePictureReader(picture) {
  const known = new Map();
  return (letters) => {
    if (!known.has(letters)) {
      const pairs = picture.keys.map((key, i) => [key, PICTURE_STATES[letters[i]]]);
      known.set(letters, Object.fromEntries(pairs.filter(([, state]) => state)));
    }
    return known.get(letters);
  };
}

function readStep(track, n, { script, codes, pools, readPicture }) {
  const { word, value, card } = pools;
  const code = track.code == null ? null : codes[track.code];
  return {
    ...track,
    n,
    code,
    label: word(track.label),
    short: word(track.short),
    says: word(track.says),
    handler: word(track.handler),
    ending: word(track.ending),
    deed: word(track.deed),
    handed: word(track.handed),
    row: code ? code.at.get(track.offset) : -1,
    thrower: code ? (code.at.get(track.raised) ?? -1) : -1,
    stack: track.stack ? track.stack.map(value) : null,
    locals: track.locals ? track.locals.map(value) : null,
    callers: (track.callers ?? []).map(card),
    shelf: (track.shelf ?? []).map(card),
    cards: (track.cards ?? []).map(card),
    printed: readPrinted(track.printed, script.printed, word),
    picture: track.picture == null ? null : readPicture(track.picture),
    panels: track.panels ?? [],
  };
}

/** Return the output so far: so many characters of all of it, or words of its own. */
function readPrinted(printed, all, word) {
  return typeof printed === "number" ? all.slice(0, printed) : word(printed?.[0]);
}
