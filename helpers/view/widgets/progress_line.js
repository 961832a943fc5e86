// One line at the foot of the window, as long as its model lives. It is in no cell's output.
function initialize({ model }) {
  const box = document.querySelector(".course-waiting") ?? make("div", "course-waiting");
  document.body.append(box);
  const line = make("div", "course-waiting-line");
  const words = make("span", "course-waiting-words", "", { role: "status" });
  const clock = make("span", "course-waiting-clock", "", { "aria-hidden": "true" });
  line.append(words, clock);
  box.append(line);

  const began = Date.now() - 1000 * model.get("since");
  const tell = () => { words.textContent = model.get("words"); };
  const tick = () => { clock.textContent = ` · ${Math.round((Date.now() - began) / 1000)} s`; };
  const first = setTimeout(tell, 50); // a screen reader speaks what changes, not what is there at once
  const timer = setInterval(tick, 1000);
  tick();
  model.on("change:words", tell);

  // A kernel that is restarted or dead closes nothing.
  const changed = model.widget_manager?.kernel?.statusChanged;
  const over = ["restarting", "autorestarting", "terminating", "dead"];
  const look = (_, status) => { if (over.includes(status)) end(); };
  changed?.connect(look);

  // A page that is opened meanwhile may miss that the cell ended: ask once whether it did.
  const asked = model.widget_manager?.kernel?.requestCommInfo({ target_name: "jupyter.widget" });
  const gone = ({ content }) => content.comms && !(model.get("own") in content.comms);
  asked?.then((reply) => { if (gone(reply)) end(); }, () => {});

  function end() {
    changed?.disconnect(look);
    clearTimeout(first);
    clearInterval(timer);
    line.remove();
    if (!box.childElementCount) box.remove();
  }
  return end;
}

export default { initialize };
