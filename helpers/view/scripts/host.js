// Widgets of a page -> alive without a kernel. Each is an anywidget: the host gives it the model and
// the element that Jupyter would, over the state that was stored. What a kernel would be asked was
// asked when the page was made; the record of it answers.

import { makeModel } from "./host/model.js";
import { makeAnswers } from "./host/recorded_answers.js";

const scripts = JSON.parse(document.getElementById("book-scripts").textContent);
const loadedModules = new Map(); // number of a script -> its module, which is loaded once

/** From an address of its own, because a page that was opened as a file may import no other file. */
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
  state.keeps = false; // what is decided here stays in the page
  const model = makeModel(state, makeAnswers(recorded, state), announceSaved);
  await widget.initialize?.({ model });
  const still = place.querySelector(".book-still");
  still.replaceWith(el);
  try {
    await widget.render({ model, el });
  } catch (error) {
    el.replaceWith(still); // which tells the same without steps
    throw error;
  }
  if (el.querySelector(".course-stage")) {
    still.className = "book-paper"; // on paper some of its steps are shown
    el.after(still);
  }
}

function scrollToAddress() {
  const address = location.hash.slice(1); // an id as it is written, or as the browser has quoted it
  const target =
    document.getElementById(address) ?? document.getElementById(decodeURIComponent(address));
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
