// Bundled by tools/bundle_scripts.py from helpers/view/scripts/host.js, sha256 91c3514abb0e1791f66e6001e03e65029b99422eb20036ebbe1f911863be43a9
(() => {
  // host/model.js
  function makeModel(state, answer, whenSaved) {
    const listeners = /* @__PURE__ */ new Map();
    const notify = (event) => {
      for (const listener of [...listeners.get(event) ?? []]) {
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
          listeners.set(event, [...listeners.get(event) ?? [], listener]);
        }
      },
      off(events, listener) {
        for (const event of splitEvents(events)) {
          const rest = (listeners.get(event) ?? []).filter((other) => other !== listener);
          listeners.set(event, rest);
        }
      },
      send: (message) => setTimeout(() => set(answer(message, state) ?? {}))
    };
  }
  function splitEvents(events) {
    return events.split(" ").filter(Boolean);
  }

  // sandbox/calls.js
  function counts([, , of, matters], picked) {
    return of === "" || matters.includes(picked[of]);
  }

  // host/recorded_answers.js
  function makeAnswers(record, state) {
    if (!record) {
      return () => null;
    }
    return record.unknown ? makeProgramAnswers(record, state) : makeSandboxAnswers(record.runs);
  }
  function makeSandboxAnswers(runs) {
    let right = 0;
    let tries = 0;
    return (message, { picked, controls }) => {
      const counting = controls.filter((control) => counts(control, picked));
      const run = runs[counting.map(([name]) => picked[name]).join("|")];
      if (!message) {
        return { call: run.call };
      }
      const isRight = message.guess === run.verdict;
      tries += 1;
      if (isRight) {
        right += 1;
      }
      const values = { guess: message.guess, right, tries };
      const says = run.says.replace(/\{(guess|right|tries)\}/g, (_, name) => values[name]);
      const question = { of: message.picked, call: run.call, press: message.press };
      return { answer: { says, right: isRight, rows: run.rows, ...question } };
    };
  }
  function makeProgramAnswers({ runs, unknown }, { labels, sources }) {
    let number = 0;
    return (message) => {
      if (!message) {
        return null;
      }
      const asWritten = sources[labels.indexOf(message.label)] === message.source;
      const answer = asWritten ? runs[message.label] : { says: unknown, shown: "" };
      number += 1;
      return { answer: { ...answer, number } };
    };
  }

  // host.js
  var scripts = JSON.parse(document.getElementById("book-scripts").textContent);
  var loadedModules = /* @__PURE__ */ new Map();
  function loadWidget(number) {
    if (!loadedModules.has(number)) {
      const script = new Blob([scripts[number]], { type: "text/javascript" });
      loadedModules.set(number, import(URL.createObjectURL(script)));
    }
    return loadedModules.get(number);
  }
  function announceSaved(state) {
    document.dispatchEvent(new CustomEvent("book-saved", { detail: state }));
  }
  async function enliven(place) {
    const stored = JSON.parse(place.querySelector("script").textContent);
    const { script, classes, state, recorded } = stored;
    const widget = (await loadWidget(script)).default;
    const el = document.createElement("div");
    el.className = classes.join(" ");
    state.keeps = false;
    const model = makeModel(state, makeAnswers(recorded, state), announceSaved);
    await widget.initialize?.({ model });
    const still = place.querySelector(".book-still");
    still.replaceWith(el);
    try {
      await widget.render({ model, el });
    } catch (error) {
      el.replaceWith(still);
      throw error;
    }
    if (el.querySelector(".course-stage")) {
      still.className = "book-paper";
      el.after(still);
    }
  }
  function scrollToAddress() {
    const address = location.hash.slice(1);
    const target = document.getElementById(address) ?? document.getElementById(decodeURIComponent(address));
    target?.scrollIntoView();
  }
  async function enlivenAll() {
    const places = [...document.querySelectorAll(".book-live")];
    const ends = await Promise.allSettled(places.map(enliven));
    document.documentElement.classList.add("book-lives");
    document.dispatchEvent(new Event("book-lives"));
    scrollToAddress();
    for (const { reason } of ends) {
      if (reason) {
        console.error(reason);
      }
    }
  }
  enlivenAll();
})();
