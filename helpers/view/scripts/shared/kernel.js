// What a widget asks its kernel, and what it says where no answer comes.

/** Let a kernel that lives know the state too; a page that was reopened without one needs none. */
export function save(model) {
  try {
    model.save_changes();
  } catch {
    // the page's own state is enough
  }
}

/**
 * Return whether the page's kernel knows a widget; it answers when no cell runs.
 *
 * False for no kernel, for one that was restarted, and for one that ends before it answers.
 */
export async function isKnown(model) {
  const manager = model.widget_manager;
  if (!manager || !("kernel" in manager)) {
    return true; // a page that has nobody to ask
  }
  if (!manager.kernel) {
    return false;
  }
  try {
    const { content } = await manager.kernel.requestCommInfo({ target_name: "jupyter.widget" });
    return !content.comms || !model.get("own") || model.get("own") in content.comms;
  } catch {
    return false;
  }
}

/**
 * Send `content` to the kernel, and `report` on it until the returned function is called.
 *
 * Reports "late" where no answer came within `patience` milliseconds, and "gone" as soon as it is
 * known that none can come. A kernel that another page restarts loses messages, also the question
 * whether it knows the widget. So that question is asked again after each `patience`.
 */
export function request(model, content, patience, report) {
  let open = true;
  let isLate = false;
  const waiting = setInterval(() => {
    if (!isLate) {
      isLate = true;
      report("late");
    }
    askWhetherKnown();
  }, patience);
  const stopWaiting = () => {
    open = false;
    clearInterval(waiting);
  };
  const reportGone = () => {
    if (open) {
      stopWaiting();
      report("gone");
    }
  };
  const askWhetherKnown = () => isKnown(model).then((known) => known || reportGone());
  try {
    model.send(content);
    askWhetherKnown();
  } catch {
    reportGone(); // the channel was closed when its kernel ended
  }
  return stopWaiting;
}

/** Return the sentence on an exhibit that no kernel knows; running its cell makes `what`. */
export function explainGone(what) {
  return `No kernel knows this exhibit any more: run this cell again, after those that it needs, to make ${what}.`;
}

/** Return `ask`, which asks the kernel and says so in `status`, and `stopWaiting`. */
export function makeAsker(model, status, patience, what) {
  const problems = {
    late: `No answer yet. A busy kernel answers later. After a restart, run this cell again to make ${what}.`,
    gone: explainGone(what),
  };
  let stopRequest = () => {};
  const stopWaiting = () => stopRequest();
  const ask = (content) => {
    stopWaiting();
    status.replaceChildren("Running…");
    stopRequest = request(model, content, patience, (problem) =>
      status.replaceChildren(problems[problem]),
    );
  };
  return { ask, stopWaiting };
}
