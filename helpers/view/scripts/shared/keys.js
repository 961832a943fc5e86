// Keys inside a widget, kept from JupyterLab.

/**
 * Keep arrows, Enter and Space inside `root`: JupyterLab must not move between cells.
 *
 * Where lines are typed, Enter with Shift, Ctrl, Alt or Cmd runs them: JupyterLab would run the
 * cell again, and the lines would be gone.
 */
export function keepKeys(root, signal) {
  const keepKey = (event) => {
    if (!root.contains(event.target)) {
      return;
    }
    const modified = hasModifier(event) || event.shiftKey;
    if (modified && event.key === "Enter" && event.target.matches("textarea")) {
      submitForm(event);
    } else if (!modified && isOurs(event.key)) {
      event.stopPropagation();
    }
  };
  window.addEventListener("keydown", keepKey, { capture: true, signal });
}

/** Return whether Ctrl, Cmd or Alt is pressed with the key. */
export function hasModifier(event) {
  return event.ctrlKey || event.metaKey || event.altKey;
}

function isOurs(key) {
  return key.startsWith("Arrow") || key === "Enter" || key === " ";
}

function submitForm(event) {
  event.stopPropagation();
  event.preventDefault();
  if (!event.repeat) {
    event.target.form.requestSubmit();
  }
}
