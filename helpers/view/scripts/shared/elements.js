// What the widgets are made of: HTML and SVG elements.

/** Return a new HTML element with this class, text and attributes; "" for none. */
export function makeElement(tag, className, text, attributes = {}) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  if (text) {
    element.textContent = text;
  }
  setAttributes(element, attributes);
  return element;
}

/** Return a new SVG element, which is appended to its `parent` if there is one. */
export function makeSvgElement(tag, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  parent?.append(element);
  return element;
}

/** Return a place whose text a screen reader speaks when it changes. */
export function makeStatus(className = "course-status") {
  return makeElement("div", className, "", { role: "status", "aria-live": "polite" });
}

/** Set several attributes of an element. */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
}

/** Set `aria-disabled`: a button that is disabled would drop the keyboard's focus. */
export function setEnabled(button, enabled) {
  button.setAttribute("aria-disabled", String(!enabled));
}
