// One step forward: operands travel out of the stack, results into it. New input ends all motion.

function makeTravel(root) {
  let live = [];
  const rect = (node) => {
    const [a, b] = [node.getBoundingClientRect(), root.getBoundingClientRect()];
    const scale = b.width / root.offsetWidth || 1; // of a page that is enlarged, such as a slide
    const [x, y] = [(a.left - b.left) / scale, (a.top - b.top) / scale];
    return { x: x - root.clientLeft, y: y - root.clientTop, w: a.width / scale, h: a.height / scale };
  };
  const stop = () => {
    for (const animation of live) animation.cancel();
    live = [];
    root.querySelectorAll(".stage-flight").forEach((node) => node.remove());
  };
  const animate = (node, frames, options = {}) => {
    const animation = node.animate(frames, { duration: MS, easing: "cubic-bezier(.3,.1,.2,1)", fill: "backwards", ...options });
    live.push(animation);
    return animation;
  };
  const fly = (from, to, words, fades) => {
    const node = make("div", "stage-flight", words, { "aria-hidden": "true" });
    node.style.cssText = `left:${to.x}px;top:${to.y}px;width:${to.w}px;height:${to.h}px`;
    root.append(node);
    const way = `translate(${from.x - to.x}px,${from.y - to.y}px)`;
    const animation = animate(node, [
      { transform: way, width: `${from.w}px`, opacity: 1 },
      { transform: "none", opacity: fades ? 0 : 1 },
    ]);
    animation.onfinish = animation.oncancel = () => node.remove();
  };
  const arrive = (block, from, words, late) => {
    if (from) {
      animate(block, [{ opacity: 0 }, { opacity: 0, offset: 0.95 }, { opacity: 1 }]);
      fly(from, rect(block), words, false);
    } else {
      animate(block, [{ transform: "translateY(-26px)", opacity: 0 }, { transform: "none", opacity: 1 }],
        { delay: late ? 110 : 0, duration: late ? 140 : MS });
    }
  };
  return { rect, stop, fly, arrive };
}
