// Paper is light, and no wider than it is: a picture that scrolls on a screen is fitted to it.

/** Prepare the page for paper before it is printed, and for the screen again after that. */
export function preparePaper() {
  let theme = null;
  let pictures = []; // styles of pictures, each with its width on the screen
  addEventListener("beforeprint", () => {
    theme = document.body.dataset.jpThemeLight;
    document.body.dataset.jpThemeLight = "true";
    pictures = [...document.querySelectorAll(".who-picture")].map(({ shadowRoot }) => {
      const { style } = shadowRoot.querySelector("svg");
      return { style, minWidth: style.minWidth };
    });
    for (const { style } of pictures) {
      style.minWidth = "0";
    }
    for (const details of document.querySelectorAll(".course-held")) {
      details.open = true; // paper cannot unfold
    }
    for (const stepper of document.querySelectorAll(".book-paper")) {
      openSteps(stepper);
    }
  });
  addEventListener("afterprint", () => {
    document.body.dataset.jpThemeLight = theme;
    for (const { style, minWidth } of pictures) {
      style.minWidth = minWidth;
    }
  });
}

/** Put the first step of a stepper on paper, the one that is opened or in the middle, and the last. */
function openSteps(stepper) {
  const steps = [...stepper.querySelectorAll(":scope > details")];
  const opened = steps.findIndex((step) => step.open);
  const middle = opened > 0 ? opened : Math.floor(steps.length / 2);
  const shown = [0, middle, steps.length - 1];
  steps.forEach((step, at) => {
    step.open = shown.includes(at);
    step.hidden = !step.open;
  });
}
