// The map of documents: each is a point between the places of the leaves on a circle. Point at it,
// or step with the arrow keys through the documents of the selected topic.
const chart = $("#points");
const POINT_REACH = 14;
const MAP_SIZE = 1000;
const points = { at: null, context: null, size: 0, margin: 0 };

function setupDocumentMap() {
  if (!chart) return;
  points.context = chart.getContext("2d");
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

// Coordinates of the map as pixels of the chart.
const onChart = (value) => points.margin + (value / MAP_SIZE) * (points.size - 2 * points.margin);
const isChosen = (leaf) => leavesOf(nodes[state.node]).includes(leaf);

function drawPoints() {
  if (!chart) return;
  for (const button of $$("#document-map [data-node]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.node) === state.node));
  }
  const size = chart.parentElement.clientWidth;
  if (!size || !documents.length) return;
  const scale = window.devicePixelRatio || 1;
  Object.assign(points, { size, margin: Math.max(18, size / 24) });
  chart.width = chart.height = Math.round(size * scale);
  const { context } = points;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(chart);
  const value = (name) => style.getPropertyValue(name).trim();
  const leaves = nodes.filter((node) => node.leaf !== null);
  // The documents of other topics are painted first, in gray.
  const radius = Math.max(1, Math.min(4, size / (7 * Math.sqrt(documents.length))));
  const layers = [...leaves.filter((leaf) => !isChosen(leaf)), ...leaves.filter(isChosen)];
  for (const leaf of layers) {
    const chosen = isChosen(leaf);
    context.fillStyle = chosen ? `oklch(${value("--chip")} ${leaf.cell.hue})` : value("--faint");
    context.globalAlpha = chosen ? 0.75 : 0.6;
    context.beginPath();
    for (const at of documentsOfLeaf.get(leaf.leaf) ?? []) {
      const [x, y] = documents[at].at.map(onChart);
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
  context.globalAlpha = 1;
  context.font = `600 13px ${style.fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const leaf of leaves) drawLeafNumber(leaf, value);
  if (points.at !== null) drawRing(value("--ink"), radius);
}

// The number of a leaf beyond its place on the circle.
function drawLeafNumber(leaf, value) {
  const { context, size, margin } = points;
  const middle = size / 2;
  const [x, y] = data.documents.map[leaf.leaf].map((part) => middle + (onChart(part) - middle) * (1 + margin / size));
  context.fillStyle = isChosen(leaf) ? value("--ink") : value("--soft");
  context.fillText(String(leaf.leaf), x, y);
}

function drawRing(ink, radius) {
  const [x, y] = documents[points.at].at.map(onChart);
  const { context } = points;
  context.beginPath();
  context.arc(x, y, radius + 4, 0, 2 * Math.PI);
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.stroke();
}

// The document closest to the pointer, if it is close enough; those of the selected topic first.
function nearest(event) {
  const box = chart.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = null;
  let least = POINT_REACH ** 2;
  for (const leaf of leavesOf(nodes[state.node])) {
    for (const at of documentsOfLeaf.get(leaf.leaf) ?? []) {
      const [left, top] = documents[at].at;
      const distance = (onChart(left) - x) ** 2 + (onChart(top) - y) ** 2;
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
  const leaf = topicNode(entry.leaf);
  const text = entry.text.length > 160 ? `${entry.text.slice(0, 160).trimEnd()}…` : entry.text;
  tip.style.setProperty("--h", leaf.cell.hue);
  tip.replaceChildren(
    user("b", entry.id),
    el("span", { class: "of" }, el("span", { class: "chip", "aria-hidden": "true" }), numberOf(leaf), nameOf(leaf)),
    user("span", text));
  // Beside the point, on the side with more room.
  const [x, y] = entry.at.map(onChart);
  tip.style.insetInlineStart = `${Math.min(Math.max(0, x - tip.offsetWidth / 2), points.size - tip.offsetWidth)}px`;
  tip.style.top = y > points.size / 2 ? `${y - tip.offsetHeight - 14}px` : `${y + 14}px`;
  if (announced) $("#status").textContent = `${entry.id}. Topic ${leaf.leaf} ${leaf.name}. ${text}`;
}

const openPoint = (at) => pick(topicNode(documents[at].leaf).id, at);

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
