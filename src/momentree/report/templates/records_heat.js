// The heat map: groups from top to bottom, common codes from left to right.
const heat = data.heat;
const HEAT_HEIGHT = 560;
const GROUP_LINE = 18;
const LEAST_GROUP = GROUP_LINE + 1;
const MOST_NAME = 168;
const heatRows = [];
let heatAt = null;

function bitsOf(text, rows, columns) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const width = Math.ceil(columns / 8);
  return (row, column) => (bytes[row * width + (column >> 3)] >> (7 - (column & 7))) & 1;
}

// Rows of the map: leaf, shade of each column, and its meaning in words.
function prepareHeat() {
  if (heat.records) {
    const { ids, leaf, bits } = heat.records;
    const has = bitsOf(bits, ids.length, heat.codes.length);
    ids.forEach((id, row) => heatRows.push({
      leaf: leaf[row], shade: (column) => has(row, column),
      words: (column) => `${id}: ${has(row, column) ? "has" : "does not have"}`,
    }));
    return;
  }
  for (const { leaf, levels } of heat.bands) {
    const node = leafNode(leaf);
    heatRows.push({
      leaf,
      shade: (column) => levels ? (Number(levels[column]) + 0.5 * (levels[column] > "0")) / 10 : rateOf(node, heat.codes[column]).hidden ? 0 : rateOf(node, heat.codes[column]).rate,
      words: (column) => levels
        ? `${10 * levels[column]} to ${10 * levels[column] + 10}% of the records in this band have`
        : `${rateText(rateOf(node, heat.codes[column]))} of the records have`,
    });
  }
}

function groupHeights() {
  const order = [...new Set(heatRows.map((row) => row.leaf))];
  const sizes = order.map((leaf) => groups.estimated[leaf]);
  const total = sum(sizes);
  return order.map((leaf, at) => ({ leaf, height: Math.max(LEAST_GROUP, Math.round((HEAT_HEIGHT * sizes[at]) / total)) }));
}

const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

function paintHeat(canvas = $("#heat-canvas"), dark = isDark()) {
  const columns = heat.codes.length;
  const scale = 2;
  const width = Math.max(1, Math.round(canvas.getBoundingClientRect().width)) * scale;
  const heights = groupHeights();
  canvas.width = width;
  canvas.height = sum(heights.map(({ height }) => height)) * scale;
  const pen = canvas.getContext("2d");
  const style = window.getComputedStyle(canvas);
  const faint = style.getPropertyValue("--fill-inner").trim();
  let top = 0;
  for (const { leaf, height } of heights) {
    const hue = leafNode(leaf).cell.hue;
    const rows = heatRows.filter((row) => row.leaf === leaf);
    pen.fillStyle = `oklch(${faint} ${hue} / 0.55)`;
    pen.fillRect(0, top * scale, width, height * scale);
    rows.forEach((row, at) => {
      const y = Math.round((top + (height * at) / rows.length) * scale);
      const next = Math.round((top + (height * (at + 1)) / rows.length) * scale);
      for (let column = 0; column < columns; column += 1) {
        const shade = row.shade(column);
        if (!shade) continue;
        const x = Math.round((column * width) / columns);
        // The square root keeps low densities visible.
        const strength = heat.records ? 1 : Math.sqrt(shade);
        pen.fillStyle = dark ? `oklch(${0.32 + 0.58 * strength} 0.1 ${hue} / ${strength})` : `oklch(${0.88 - 0.58 * strength} 0.1 ${hue} / ${strength})`;
        pen.fillRect(x, y, Math.round(((column + 1) * width) / columns) - x - (heat.records ? 0 : scale), Math.max(next - y, 1));
      }
    });
    top += height;
    pen.fillStyle = style.getPropertyValue("--paper");
    pen.fillRect(0, top * scale - scale, width, scale);
  }
}

function readHeat(row, column) {
  heatAt = { row, column };
  const found = heatRows[row];
  const node = leafNode(found.leaf);
  $("#heat-reading").replaceChildren(el("span", { class: "chip", "aria-hidden": "true", style: color(node) }), drawName(node), el("span", {}, ` · ${found.words(column)} `), label(heat.codes[column]));
  $$("#heat-grid .column").forEach((name, at) => name.classList.toggle("here", at === column));
}

// The row of the map at a height, in pixels.
function rowAt(y) {
  let top = 0;
  for (const { leaf, height } of groupHeights()) {
    if (y < top + height) {
      const first = heatRows.findIndex((row) => row.leaf === leaf);
      const count = heatRows.filter((row) => row.leaf === leaf).length;
      return first + Math.min(count - 1, Math.max(0, Math.floor(((y - top) / height) * count)));
    }
    top += height;
  }
  return heatRows.length - 1;
}

function setupHeat() {
  prepareHeat();
  const columns = heat.codes.length;
  const canvas = el("canvas", { id: "heat-canvas", tabindex: 0, role: "img", "aria-label": `Heat map of ${data.n_leaves} groups and ${columns} codes; the numbers are in the table of codes`, "aria-describedby": "heat-reading" });
  // As high as the longest name requires; codes without names are short.
  ruler.font = `12px ${window.getComputedStyle(document.body).fontFamily}`;
  const longest = Math.max(...heat.codes.map((j) => ruler.measureText(codes.short[j]).width));
  const names = el("div", { class: "heat-names", "aria-hidden": "true", style: { height: `${Math.min(MOST_NAME, Math.ceil(1.05 * longest) + 6)}px` } }, ...heat.codes.map((j) => el("span", { class: "column" }, label(j))));
  const sides = el("div", { class: "heat-groups" }, ...groupHeights().map(({ leaf, height }) => {
    const node = leafNode(leaf);
    return el("button", { type: "button", style: { ...color(node), height: `${height}px`, "--lines": Math.max(1, Math.floor((height - 1) / GROUP_LINE)) }, title: describe(node), onclick: () => openNode(node.id) }, el("span", { class: "number" }, String(leaf)), user("span", node.name));
  }));
  $("#heat-grid").replaceChildren(el("span"), names, sides, canvas);
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    readHeat(rowAt(event.clientY - box.top), Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns))));
  };
  canvas.addEventListener("pointermove", place);
  canvas.addEventListener("pointerdown", place);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const from = heatAt ?? { row: 0, column: -step[1] };
    readHeat(Math.min(heatRows.length - 1, Math.max(0, from.row + step[0])), Math.min(columns - 1, Math.max(0, from.column + step[1])));
  });
  new ResizeObserver(() => paintHeat()).observe(canvas);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paintHeat());
}

// The map as a file, with the names of its codes above and those of its groups at the left.
function heatChart() {
  const heights = groupHeights();
  const names = heat.codes.map((j) => codes.name[j]);
  ruler.font = `13px ${CHART_FONT}`;
  const longest = (texts, most) => Math.min(most, Math.ceil(Math.max(...texts.map((text) => ruler.measureText(text).width))) + 17);
  const [left, above] = [longest(heights.map(({ leaf }) => numbered(leafNode(leaf))), 300), longest(names, 220)];
  return [$("#heat-canvas"), {
    left, above, height: sum(heights.map(({ height }) => height)),
    prepare: (copy) => { copy.style.width = "100%"; paintHeat(copy, false); },
    draw: (body, width) => {
      names.forEach((name, at) => {
        const x = ((at + 0.5) * width) / names.length + 4;
        body.append(svgText(x, -6, fitLetters(name, above - 16), { "font-size": 13, transform: `rotate(-90 ${x} -6)` }));
      });
      let top = 0;
      for (const { leaf, height } of heights) {
        body.append(svgText(-8, top + Math.min(height / 2 + 5, 18), fitLetters(numbered(leafNode(leaf)), left - 16), { "font-size": 13, "text-anchor": "end" }));
        top += height;
      }
    },
  }];
}
