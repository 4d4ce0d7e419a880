// Files that the reader keeps: tables as CSV, charts as SVG and PNG. Nothing leaves the computer.
const CHART_WIDTH = 1200;
const CHART_MARGIN = 24;
const LINE = 24;
const CHART_FONT = "Helvetica, Arial, sans-serif";
const SVG = "http://www.w3.org/2000/svg";

function fileName(what, ending) {
  const title = comparable(data.title).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${Array.from(title).slice(0, 40).join("") || "momentree"}-${what}.${ending}`;
}

function download(name, content, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  $("#status").textContent = `Saved ${name}`;
}

const quoted = (text) => (/[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = (rows) => rows.map((row) => `${row.map((value) => quoted(String(value))).join(",")}\r\n`).join("");

// Spreadsheets take such text for a formula; an apostrophe keeps it text.
const harmless = (text) => (/^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text);

// The text of a cell: numbers without separators, and what is small in parentheses.
function cellText(cell) {
  const copy = cell.cloneNode(true);
  const asides = $$("small, .part", copy).filter((aside, at) => shown($$("small, .part", cell)[at])).map((aside) => aside.textContent.trim());
  for (const aside of $$("small, .part, .hidden, .number", copy)) aside.remove();
  const text = copy.textContent.replace(/\s+/g, " ").trim();
  const number = /^-?\d{1,3}(,\d{3})*(\.\d+)?%?$/.test(text) ? text.replaceAll(",", "") : text;
  return [number === "–" ? "" : number, ...asides.filter(Boolean).map((aside) => `(${aside})`)].join(" ").trim();
}

const shown = (element) => element.getClientRects().length > 0;

// What a table shows, in its order: numbers of leaves and percentages have columns of their own.
function tableRows(table) {
  const heads = $$("thead tr > *", table);
  const body = $$("tbody tr", table).filter(shown);
  const columns = heads.map((head, at) => [head, at]).filter(([head]) => shown(head)).map(([head, at]) => {
    const cells = body.map((row) => row.children[at]);
    const texts = cells.map((cell) => (cell ? cellText(cell) : ""));
    const name = head.dataset.csv ?? head.textContent.trim();
    const percents = texts.some((text) => text.endsWith("%")) && texts.every((text) => !text || /^[\d.]+%$/.test(text));
    const column = [percents ? `${name} (%)` : name, ...(percents ? texts.map((text) => text.replace("%", "")) : texts)];
    const numbered = cells.some((cell) => cell && $(".number", cell));
    return numbered ? [["Number", ...cells.map((cell) => $(".number", cell)?.textContent.trim() ?? "")], column] : [column];
  }).flat();
  return ["", ...body].map((_, row) => columns.map((column) => harmless(column[row])));
}

// The mark at the beginning makes spreadsheets read letters beyond ASCII.
const saveTable = (table, what) => download(fileName(what, "csv"), `\ufeff${csv(tableRows(table))}`, "text/csv");

const fileButton = (text, what, onclick) => el("button", { type: "button", "aria-label": `Save ${what} as ${text}`, title: `Save ${what} as ${text}`, onclick }, text);

const tableTools = (table, what, prepare = () => {}) => fileButton("CSV", "the table", () => { prepare(); saveTable(table, what); });

// --- charts -------------------------------------------------------------------------------------
const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

// A color that every program knows.
function plainColor(color) {
  if (!color || color === "none") return "none";
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
  return a === 255 ? `rgb(${r},${g},${b})` : a === 0 ? "none" : `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`;
}

function svgElement(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const svgText = (x, y, text, attributes = {}) => svgElement("text", { x, y, "font-family": CHART_FONT, "font-size": 14, fill: "#20242a", ...attributes }, text);

// Replace styles by attributes, and lengths in percent by numbers.
function selfContained(element, width, height) {
  const style = window.getComputedStyle(element);
  const made = svgElement(element.localName === "a" ? "g" : element.localName);
  for (const name of ["x", "y", "width", "height", "d", "viewBox", "preserveAspectRatio", "points", "x1", "x2", "y1", "y2", "cx", "cy", "r", "transform", "text-anchor"]) {
    const value = element.getAttribute(name);
    if (value === null) continue;
    const whole = ["x", "width", "x1", "x2", "cx"].includes(name) ? width : height;
    made.setAttribute(name, value.endsWith("%") ? (parseFloat(value) * whole) / 100 : value);
  }
  const drawn = ["rect", "path", "circle", "line", "text", "polygon", "polyline"].includes(element.localName);
  if (drawn) {
    made.setAttribute("fill", plainColor(style.fill));
    const stroke = plainColor(style.stroke);
    if (stroke !== "none") {
      made.setAttribute("stroke", stroke);
      made.setAttribute("stroke-width", parseFloat(style.strokeWidth));
      if (style.paintOrder !== "normal") made.setAttribute("paint-order", style.paintOrder);
      if (style.vectorEffect !== "none") made.setAttribute("vector-effect", style.vectorEffect);
    }
    if (style.opacity !== "1") made.setAttribute("opacity", style.opacity);
  }
  if (element.localName === "text") {
    for (const name of ["font-size", "font-weight"]) made.setAttribute(name, style.getPropertyValue(name));
    made.setAttribute("font-family", CHART_FONT);
    made.textContent = element.textContent;
    return made;
  }
  if (element.localName === "title") { made.textContent = element.textContent; return made; }
  const within = element.localName === "svg" && !element.hasAttribute("viewBox")
    ? [Number(made.getAttribute("width")) || width, Number(made.getAttribute("height")) || height] : [width, height];
  for (const child of element.children) {
    if (!child.hasAttribute("hidden") && child.localName !== "style") made.append(selfContained(child, ...within));
  }
  return made;
}

// A chart in the colors of the light page, wherever the page is read, and its legend. `prepare` may
// change the copy before its styles are read.
function drawnCopy(chart, width, height, legend, prepare) {
  const copy = chart.cloneNode(true);
  const painted = chart instanceof HTMLCanvasElement;
  if (painted) copy.getContext("2d").drawImage(chart, 0, 0);
  else for (const [name, value] of Object.entries({ width, height })) copy.setAttribute(name, value);
  for (const chosen of $$(".chosen, .faint", copy)) chosen.classList.remove("chosen", "faint");
  const host = el("div", { class: "light", style: { position: "absolute", left: "-99999px", width: `${width}px` }, "aria-hidden": "true" }, copy);
  document.body.append(host);
  prepare(copy);
  const entries = typeof legend === "function" ? legend(copy) : legend;
  const drawing = painted
    ? svgElement("image", { href: copy.toDataURL("image/png"), width, height, preserveAspectRatio: "none" })
    : selfContained(copy, width, height);
  host.remove();
  return [drawing, entries];
}

// A chart with its title, marks below it (`ticks`: pairs of a position, 0 to 1, and a text) and a
// legend (pairs of a color and a text, or a function of the chart that returns them), as an SVG
// element. `draw` may add marks, for which `left` and `above` leave space.
function composeChart(chart, { title, ticks = [], legend = [], width = CHART_WIDTH, height = chart.getBoundingClientRect().height, left = 0, above = 0, prepare = () => {}, draw = () => {} } = {}) {
  const [drawing, entries] = drawnCopy(chart, width - left, height, legend, prepare);
  const body = svgElement("g", { transform: `translate(${CHART_MARGIN + left} ${2 * CHART_MARGIN + above})` }, drawing);
  const room = width - left;
  draw(body, room, height);
  for (const [at, text] of ticks) body.append(svgText(at * room, height + 18, text, { "text-anchor": at < 0.05 ? "start" : at > 0.95 ? "end" : "middle", fill: "#565d66", "font-size": 12 }));
  ruler.font = `14px ${CHART_FONT}`;
  let x = 0;
  let y = height + (ticks.length ? 20 : 0) + (entries.length ? LINE : 0);
  for (const [fill, text] of entries) {
    const space = ruler.measureText(text).width + 46;
    if (x > 0 && x + space > room) { x = 0; y += LINE; }
    body.append(svgElement("rect", { x, y: y - 11, width: 13, height: 13, rx: 2, fill: plainColor(fill) }), svgText(x + 20, y, text));
    x += space;
  }
  const [outer, total] = [width + 2 * CHART_MARGIN, above + y + 3 * CHART_MARGIN];
  return svgElement("svg", { width: outer, height: total, viewBox: `0 0 ${outer} ${total}` },
    svgElement("rect", { width: outer, height: total, fill: "#ffffff" }),
    svgText(CHART_MARGIN, 30, title, { "font-size": 17, "font-weight": 600 }), body);
}

function saveImage(text, file) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = el("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(file, blob, "image/png"), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

// Save a chart, an SVG or canvas element, as a file; for the options see `composeChart`.
function exportChart(chart, what, format, options = {}) {
  const text = new XMLSerializer().serializeToString(composeChart(chart, { title: data.title, ...options }));
  if (format === "svg") download(fileName(what, "svg"), text, "image/svg+xml");
  else saveImage(text, fileName(what, "png"));
}

// Buttons that save a chart; `find` returns the chart and the options for `exportChart`.
const chartTools = (what, find) => ["SVG", "PNG"].map((format) =>
  fileButton(format, "the chart", () => { const [chart, options] = find(); exportChart(chart, what, format.toLowerCase(), options); }));

// A legend of all leaves by number, with their colors.
const legendOf = (colorOf) => [...leafNodes].sort((a, b) => a.leaf - b.leaf).map((node) => [colorOf(node), numbered(node)]);
const leafLegend = (chart) => legendOf((node) => window.getComputedStyle($(`.cell[data-node="${node.id}"] rect, path[data-node="${node.id}"]`, chart)).fill);

function setupExport() {
  const add = (name, find) => {
    const place = $(`[data-export="${name}"]`);
    if (place) place.append(el("span", {}, "Save as"), ...[find()].flat());
  };
  add("icicle", () => chartTools("overview", () => [$("#icicle"), { legend: leafLegend, prepare: (copy) => fitNames(copy, CHART_WIDTH) }]));
  add("table", () => tableTools($("#table table"), "table"));
  add("codes", () => tableTools($("#code-table"), "codes", () => { codeState.shown = codes.code.length; drawCodes(); }));
  add("outcomes", () => tableTools($("#outcome-table"), "outcomes"));
  add("correlation", () => tableTools($('[data-export="correlation"]').parentElement.parentElement.querySelector("table"), "correlation"));
  add("cosine", () => tableTools($('[data-export="cosine"]').parentElement.parentElement.querySelector("table"), "similarity"));
  add("proportions", () => chartTools("proportions", () => [$("#areas"), {
    height: 420, legend: leafLegend, ticks: areas.ticks.map(([column, text]) => [(column + 0.5) / areas.names.length, text]),
  }]));
  add("document-map", () => chartTools("document-map", savedPoints));
  add("diagram", () => chartTools("states", () => [$("#diagram"), { height: 680 }]));
  add("transitions", () => tableTools($("#transition-table"), "transitions"));
  add("heat", () => chartTools("heat-map", heatChart));
  for (const table of $$(".text-table")) {
    const what = table.parentElement.getAttribute("aria-labelledby").replace("-title", "");
    table.parentElement.before(el("div", { class: "tools" }, el("span", {}, "Save as"), tableTools(table, what)));
  }
}
