// A block of the tree and an arrow key -> the block beside it.

const MOVES = {
  ArrowUp: findAbove,
  ArrowDown: findBelow,
  ArrowLeft: findLeft,
  ArrowRight: findRight,
};

/** Return what finds the next block for a key, given a block and the top one; or undefined. */
export function findMove(key) {
  return MOVES[key];
}

/** Return whether an element is shown; a browser that cannot tell says no. */
export function isShown(element) {
  return Boolean(element?.checkVisibility?.());
}

function findAbove(block, top) {
  return block === top ? null : block.parentNode.parentNode;
}

function findBelow(block) {
  const inner = block.children[1];
  return isShown(inner) ? inner.firstElementChild : null;
}

function findLeft(block) {
  return findBeside(block, "previousElementSibling");
}

function findRight(block) {
  return findBeside(block, "nextElementSibling");
}

/** Return the nearest block in a direction that is not hidden. */
function findBeside(block, direction) {
  let beside = block[direction];
  while (beside?.style.display === "none") {
    beside = beside[direction];
  }
  return beside;
}
