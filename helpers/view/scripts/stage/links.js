// An instruction and its place in the source, each shown where the mouse is on the other.

import { findRowsAt } from "./source_spans.js";

/**
 * Return what connects two panes: each says what it can show, and where the mouse is.
 *
 * `connectSpan(show)` and `connectRows(show, current)` are called by the pane of the source and the
 * one of the instructions.
 */
export function makeLinks() {
  let showSpan = () => {};
  let showRows = () => {};
  let currentRows = () => [];
  return {
    connectSpan(show) {
      showSpan = show;
    },
    connectRows(show, current) {
      showRows = show;
      currentRows = current;
    },
    showRow(row) {
      showRows(row ? [row] : []);
      showSpan(row?.span ?? null);
    },
    showPlace(line, column) {
      const rows = findRowsAt(currentRows(), line, column);
      showRows(rows);
      showSpan(rows[0]?.span ?? null);
    },
  };
}
