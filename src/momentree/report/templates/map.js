// The icicle: each block selects a node, and shows as many words of its name as fit.
const cells = $$(".icicle .cell");
const ruler = document.createElement("canvas").getContext("2d");
const PRINT_WIDTH = 680;

function fitName(name, width) {
  if (ruler.measureText(name).width <= width) return name;
  const words = name.split(nameSeparator);
  for (let count = words.length - 1; count > 0; count -= 1) {
    const text = words.slice(0, count).join(nameSeparator);
    if (ruler.measureText(text).width <= width) return text;
  }
  // Shorten a single long word only if enough of it remains readable.
  const letters = Array.from(words[0]);
  for (let count = letters.length - 1; count >= 6; count -= 1) {
    const text = `${letters.slice(0, count).join("")}…`;
    if (ruler.measureText(text).width <= width) return text;
  }
  return "";
}

function fitNames(total) {
  const text = $(".icicle text");
  if (!text || !total) return;
  ruler.font = window.getComputedStyle(text).font;
  for (const cell of cells) {
    const label = $("text", cell);
    if (!label) continue;
    const { x0, x1 } = nodes[cell.dataset.node].cell;
    const room = (x1 - x0) * total - 16;
    label.textContent = fitName(label.dataset.name, room) || (room > 4 ? label.dataset.number ?? "" : "");
  }
}

function setupMap() {
  const icicle = $(".icicle");
  for (const link of $$("a", icicle)) link.setAttribute("tabindex", "-1");
  icicle.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    event.preventDefault();
    openNode(Number(cell.dataset.node), { reveal: window.innerWidth <= 860 });
  });
  listeners.push((node) => {
    for (const cell of cells) cell.classList.toggle("chosen", Number(cell.dataset.node) === node.id);
  });
  new ResizeObserver(() => fitNames(icicle.getBoundingClientRect().width)).observe(icicle);
  window.addEventListener("beforeprint", () => fitNames(PRINT_WIDTH));
  window.addEventListener("afterprint", () => fitNames(icicle.getBoundingClientRect().width));
}
