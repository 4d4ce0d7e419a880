// The map of documents: each is a point between the places of the leaves on a circle. Point at it,
// or step with the arrow keys through the documents of the selected topic.
const chart = $("#points");
const POINT_REACH = 14;
const MAP_SIZE = 1000;
const points = { at: null };

function setupDocumentMap() {
  if (!chart) return;
  new ResizeObserver(drawPoints).observe(chart.parentElement);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPoints);
  listeners.push(drawPoints);
  chart.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") showPoint(nearest(event)); });
  chart.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") showPoint(null); });
  chart.addEventListener("click", onPointClick);
  chart.addEventListener("keydown", onPointKey);
  chart.addEventListener("blur", () => showPoint(null));
  for (const button of $$("#document-map [data-node]")) {
    button.addEventListener("click", () => choose(Number(button.dataset.node)));
  }
}

// Coordinates of the map as pixels of a square.
const marginOf = (size) => Math.max(18, size / 24);
const inSquare = (value, size) => marginOf(size) + (value / MAP_SIZE) * (size - 2 * marginOf(size));
const mapSize = () => chart.parentElement.clientWidth;
const isChosen = (leaf) => leavesOf(nodes[state.node]).includes(leaf);

function drawPoints() {
  if (!chart) return;
  for (const button of $$("#document-map [data-node]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.node) === state.node));
  }
  if (!mapSize() || !documents.length) return;
  paintPoints(chart, mapSize(), window.devicePixelRatio || 1);
}

// Paint the map on a canvas, in the colors of its style.
function paintPoints(canvas, size, scale) {
  canvas.width = canvas.height = Math.round(size * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const style = window.getComputedStyle(canvas);
  const value = (name) => style.getPropertyValue(name).trim();
  const radius = Math.max(1, Math.min(4, size / (7 * Math.sqrt(documents.length))));
  // The documents of other topics are painted first, in gray.
  for (const leaf of [...leafNodes.filter((other) => !isChosen(other)), ...leafNodes.filter(isChosen)]) {
    context.fillStyle = isChosen(leaf) ? `oklch(${value("--chip")} ${leaf.cell.hue})` : value("--faint");
    context.globalAlpha = isChosen(leaf) ? 0.75 : 0.6;
    context.beginPath();
    for (const at of documentsOfLeaf.get(leaf.leaf) ?? []) {
      const [x, y] = documents[at].at.map((part) => inSquare(part, size));
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
  context.globalAlpha = 1;
  Object.assign(context, { font: `600 13px ${style.fontFamily}`, textAlign: "center", textBaseline: "middle" });
  for (const leaf of leafNodes) {
    // The number of a leaf is beyond its place on the circle.
    const [x, y] = data.documents.map[leaf.leaf].map((part) => size / 2 + (inSquare(part, size) - size / 2) * (1 + marginOf(size) / size));
    context.fillStyle = value(isChosen(leaf) ? "--ink" : "--soft");
    context.fillText(String(leaf.leaf), x, y);
  }
  if (points.at === null) return;
  const [x, y] = documents[points.at].at.map((part) => inSquare(part, size));
  context.beginPath();
  context.arc(x, y, radius + 4, 0, 2 * Math.PI);
  Object.assign(context, { strokeStyle: value("--ink"), lineWidth: 2 });
  context.stroke();
}

// The map as a chart to save.
function savedPoints() {
  const legend = (copy) => legendOf((node) => `oklch(${window.getComputedStyle(copy).getPropertyValue("--chip")} ${node.cell.hue})`);
  return [chart, { height: CHART_WIDTH, legend, prepare: (copy) => paintPoints(copy, CHART_WIDTH, 1) }];
}

// The document closest to the pointer, if it is close enough; those of the selected topic first.
function nearest(event) {
  const box = chart.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const size = mapSize();
  let best = null;
  let least = POINT_REACH ** 2;
  for (const leaf of leavesOf(nodes[state.node])) {
    for (const at of documentsOfLeaf.get(leaf.leaf) ?? []) {
      const [left, top] = documents[at].at;
      const distance = (inSquare(left, size) - x) ** 2 + (inSquare(top, size) - y) ** 2;
      if (distance < least) [best, least] = [at, distance];
    }
  }
  return best;
}

function showPoint(at, announced = false) {
  if (at === points.at) return;
  points.at = at;
  requestAnimationFrame(drawPoints);
  const tip = $("#point");
  chart.style.cursor = at === null ? "" : "pointer";
  tip.hidden = at === null;
  if (at === null) return;
  const entry = documents[at];
  const leaf = leafNode(entry.leaf);
  const text = entry.text.length > 160 ? `${entry.text.slice(0, 160).trimEnd()}…` : entry.text;
  tip.style.setProperty("--h", leaf.cell.hue);
  tip.replaceChildren(
    user("b", entry.id),
    el("span", { class: "of" }, drawName(leaf)),
    user("span", text));
  // Beside the point, on the side with more room.
  const size = mapSize();
  const [x, y] = entry.at.map((part) => inSquare(part, size));
  tip.style.insetInlineStart = `${Math.min(Math.max(0, x - tip.offsetWidth / 2), size - tip.offsetWidth)}px`;
  tip.style.top = y > size / 2 ? `${y - tip.offsetHeight - 14}px` : `${y + 14}px`;
  if (announced) $("#status").textContent = `${entry.id}. Topic ${numbered(leaf)}. ${text}`;
}

const openPoint = (at) => pick(leafNode(documents[at].leaf).id, at);

// A mouse has shown the document before; a finger shows it first, and opens it when it taps again.
function onPointClick(event) {
  const at = nearest(event);
  if (at !== null && (event.pointerType === "mouse" || at === points.at)) openPoint(at);
  else showPoint(at, true);
}

function onPointKey(event) {
  const rows = byTypicality(nodes[state.node]);
  const at = rows.indexOf(points.at);
  const next = {
    ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1,
  }[event.key];
  if (next !== undefined) showPoint(rows[Math.min(Math.max(next, 0), rows.length - 1)] ?? null, true);
  else if (event.key === "Enter" && points.at !== null) openPoint(points.at);
  else if (event.key === "Escape") showPoint(null);
  else return;
  event.preventDefault();
}
