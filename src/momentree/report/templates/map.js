// The icicle: each block selects a node, and shows as many words of its name as fit.
const ruler = document.createElement("canvas").getContext("2d");
const PRINT_WIDTH = 680;
// Blocks at least this large, in pixels, have room for upright names.
const UPRIGHT_WIDTH = 18;
const UPRIGHT_HEIGHT = 60;

function fitName(name, width) {
  if (ruler.measureText(name).width <= width) return name;
  const words = name.split(nameSeparator);
  for (let count = words.length - 1; count > 0; count -= 1) {
    const text = words.slice(0, count).join(nameSeparator);
    if (ruler.measureText(text).width <= width) return text;
  }
  return fitLetters(words[0], width);
}

// Shorten a text only if enough of it remains readable.
function fitLetters(name, width) {
  if (ruler.measureText(name).width <= width) return name;
  const letters = Array.from(name);
  for (let count = letters.length - 1; count >= 6; count -= 1) {
    const text = `${letters.slice(0, count).join("").trimEnd()}…`;
    if (ruler.measureText(text).width <= width) return text;
  }
  return "";
}

// Names across their blocks, upright in narrow ones, or only their numbers.
function fitNames(icicle, total) {
  const first = $("text", icicle);
  if (!first || !total) return;
  const style = window.getComputedStyle(first);
  ruler.font = `${style.fontSize} ${style.fontFamily}`;
  for (const cell of $$(".cell", icicle)) {
    const text = $("text", cell);
    if (!text) continue;
    const node = nodes[cell.dataset.node];
    const width = (node.cell.x1 - node.cell.x0) * total;
    const height = Number(cell.getAttribute("height"));
    text.dataset.y ??= text.getAttribute("y");
    const across = fitName(numbered(node), width - 16);
    const upright = across || width < UPRIGHT_WIDTH || height < UPRIGHT_HEIGHT ? "" : fitName(numbered(node), height - 16);
    const number = String(node.leaf ?? "");
    text.textContent = across || upright || (ruler.measureText(number).width <= width - 3 ? number : "");
    text.setAttribute("y", text.dataset.y);
    text.removeAttribute("transform");
    text.setAttribute("x", across ? 8 : (width - ruler.measureText(number).width) / 2);
    if (!upright) continue;
    text.setAttribute("x", 8);
    text.setAttribute("y", -width / 2 + 4);
    text.setAttribute("transform", "rotate(90)");
  }
}

function setupMap() {
  const icicle = $("#icicle");
  const fit = () => fitNames(icicle, icicle.getBoundingClientRect().width);
  for (const link of $$("a", icicle)) link.setAttribute("tabindex", "-1");
  icicle.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    event.preventDefault();
    openNode(Number(cell.dataset.node), { reveal: window.innerWidth <= 860 });
  });
  listeners.push((node) => {
    for (const cell of $$(".cell", icicle)) cell.classList.toggle("chosen", Number(cell.dataset.node) === node.id);
  });
  renamed.push(fit);
  new ResizeObserver(fit).observe(icicle);
  window.addEventListener("beforeprint", () => fitNames(icicle, PRINT_WIDTH));
  window.addEventListener("afterprint", fit);
}
