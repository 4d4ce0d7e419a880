// The chart of topic proportions: point at a column or use the slider below to read it.
const areas = data.areas;

function columnProportions(column) {
  const all = areas.proportions.map((row, topic) => ({ node: leafNode(topic), share: row[column] / 1000 }));
  return all.filter(({ share }) => share >= 0.005).sort((a, b) => b.share - a.share || a.node.id - b.node.id);
}

function readColumn(column) {
  const slider = $("#column");
  const cursor = $("#cursor");
  const found = columnProportions(column);
  slider.value = column;
  slider.setAttribute("aria-valuetext", `${areas.names[column]}: ${found.slice(0, 3).map(({ node, share }) => `${numbered(node)} ${percent(share, 0)}`).join("; ")}`);
  cursor.setAttribute("x", column);
  cursor.removeAttribute("hidden");
  $("#readout").replaceChildren(user("h3", areas.names[column]), shareList(found));
  offerDocument(column);
}

// A column of one document opens it, once the documents have been read.
function offerDocument(column) {
  const at = areas.rows ? documents.findIndex((entry) => entry.row === areas.rows[column]) : -1;
  if (at < 0) return;
  $("#readout").append(el("button", { type: "button", class: "more", onclick: () => pick(leafNode(documents[at].leaf).id, at) }, "Open this document"));
}

function shareList(found) {
  return el("ul", { class: "share-list" }, ...found.map(({ node, share }) =>
    el("li", { style: color(node) },
      el("button", { type: "button", onclick: () => pick(node.id) }, drawName(node)),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${100 * share}%` } })),
      el("span", { class: "value" }, percent(share, share < 0.095 ? 1 : 0)),
    )));
}

function setupProportions() {
  if (!areas) return;
  const chart = $("#areas");
  const columns = areas.names.length;
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    readColumn(Math.min(columns - 1, Math.max(0, column)));
  });
  chart.addEventListener("click", (event) => {
    const path = event.target.closest("path");
    if (path) pick(Number(path.dataset.node));
  });
  $("#column").addEventListener("input", (event) => readColumn(Number(event.target.value)));
  // Pointing at a topic in the list highlights its area.
  const mark = (id) => {
    for (const path of $$("path", chart)) path.classList.toggle("faint", id !== null && path.dataset.node !== id);
  };
  for (const item of $$("#in-words li")) {
    for (const start of ["pointerenter", "focusin"]) item.addEventListener(start, () => mark(item.dataset.node));
    for (const end of ["pointerleave", "focusout"]) item.addEventListener(end, () => mark(null));
  }
  readColumn(0);
  $("#cursor").setAttribute("hidden", "");
}
