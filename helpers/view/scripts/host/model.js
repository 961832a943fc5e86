// The part of Jupyter's model that a widget may use.

/**
 * Return a model over this state. `answer(message, state)` returns changes of the state, or null;
 * the message is null where the widget only saves. `whenSaved(state)` is told of it.
 */
export function makeModel(state, answer, whenSaved) {
  const listeners = new Map(); // "change:name" -> functions
  const notify = (event) => {
    for (const listener of [...(listeners.get(event) ?? [])]) {
      listener();
    }
  };
  const set = (name, value) => {
    const changes = typeof name === "string" ? { [name]: value } : name;
    const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
    Object.assign(state, changes);
    for (const key of changed) {
      notify(`change:${key}`);
    }
    if (changed.length) {
      notify("change");
    }
  };
  return {
    get: (name) => state[name],
    set,
    save_changes() {
      const changes = answer(null, state);
      if (changes) {
        set(changes);
      }
      whenSaved(state);
    },
    on(events, listener) {
      for (const event of splitEvents(events)) {
        listeners.set(event, [...(listeners.get(event) ?? []), listener]);
      }
    },
    off(events, listener) {
      for (const event of splitEvents(events)) {
        const rest = (listeners.get(event) ?? []).filter((other) => other !== listener);
        listeners.set(event, rest);
      }
    },
    send: (message) => setTimeout(() => set(answer(message, state) ?? {})),
  };
}

function splitEvents(events) {
  return events.split(" ").filter(Boolean);
}
