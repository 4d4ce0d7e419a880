// The documents of the selected topic, page by page. They are packed, and read after the page has
// been drawn; until then their places are empty.
const documents = [];
const documentsOfLeaf = new Map();
const PAGE_LENGTH = 10;
const listing = { node: null, order: "typical", page: 0 };
let documentsRead = null; // whether it succeeded

async function readDocuments() {
  try {
    const letters = atob(data.documents.items);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const columns = JSON.parse(await new Response(stream).text());
    const keys = Object.keys(columns);
    for (let at = 0; at < (columns.id?.length ?? 0); at += 1) {
      const entry = {};
      for (const key of keys) entry[key] = columns[key][at];
      documents.push(entry);
      if (!documentsOfLeaf.has(entry.leaf)) documentsOfLeaf.set(entry.leaf, []);
      documentsOfLeaf.get(entry.leaf).push(at);
    }
    documentsRead = true;
  } catch {
    documentsRead = false;
  }
  data.documents.items = null;
  document.documentElement.dataset.documents = documentsRead ? "read" : "unreadable";
  for (const listener of listeners) listener(nodes[state.node], false);
  if (query.value && !results.hidden) search();
  if (areas) offerDocument(Number($("#column").value));
}

const labelOf = (entry) => entry.label === null ? "" : data.labels[entry.label];
const naturally = new Intl.Collator("en", { numeric: true }).compare;

// The typical documents of a node come first, then those of its leaves, each in its own order: a
// document in the middle of its leaf comes in the middle.
function byTypicality(node) {
  const first = new Set(node.documents);
  const others = [];
  for (const leaf of leavesOf(node)) {
    const own = documentsOfLeaf.get(leaf.leaf) ?? [];
    own.forEach((at, rank) => { if (!first.has(at)) others.push([(rank + 0.5) / own.length, at]); });
  }
  others.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...first, ...others.map(([, at]) => at)];
}

const ORDERS = {
  typical: ["most typical first", null],
  name: ["by name", (a, b) => naturally(a.id, b.id) || a.row - b.row],
  label: ["by label", (a, b) => naturally(labelOf(a), labelOf(b)) || a.row - b.row],
  input: ["as in the input", (a, b) => a.row - b.row],
};

function offeredOrders() {
  return Object.keys(ORDERS).filter((key) => (key !== "typical" || data.documents.ranked) && (key !== "label" || data.labels));
}

function documentsInOrder(node) {
  const rows = byTypicality(node);
  const compared = ORDERS[listing.order][1];
  return compared === null ? rows : rows.sort((a, b) => compared(documents[a], documents[b]));
}

// What is missing from the page, and where it can be had.
function drawMissing(node, shown) {
  if (!data.documents.sampled || shown >= node.n_samples) return null;
  return el("p", { class: "note" },
    `${integer(shown)} of ${plural(node.n_samples, data.passages_of ? "passage" : "document")} are in this page. For a page with all of them, write it again with `,
    el("code", {}, "--documents all"), " (in Python, ", el("code", {}, 'documents="all"'), "); ",
    el("code", {}, "--csv"), " lists all documents with their topics.");
}

function drawDocuments(node) {
  if (!data.documents.shown) return null;
  const section = el("section", { id: "documents", "aria-labelledby": "documents-title" },
    el("h3", { id: "documents-title" }, "Documents"));
  if (documentsRead === null) section.append(el("p", { class: "note" }, "Reading the documents …"));
  else if (documentsRead) fillDocuments(section, node);
  else section.append(el("p", { class: "note" }, "This browser cannot read the documents in this page. Open it in a current version of Chrome, Edge, Firefox or Safari."));
  return section;
}

function fillDocuments(section, node) {
  if (listing.node !== node.id) Object.assign(listing, { node: node.id, page: 0 });
  const offered = offeredOrders();
  if (!offered.includes(listing.order)) listing.order = offered[0];
  let rows = documentsInOrder(node);
  const list = el("div", { class: "documents" });
  const position = el("span", { class: "position" });
  const turn = (label, name, by) => el("button", { type: "button", class: "turn", "aria-label": `${label} documents`, onclick: () => show(by(), true) }, name);
  const last = () => Math.max(0, Math.ceil(rows.length / PAGE_LENGTH) - 1);
  const back = [turn("First", "«", () => 0), turn("Previous", "‹ Previous", () => listing.page - 1)];
  const forth = [turn("Next", "Next ›", () => listing.page + 1), turn("Last", "»", last)];
  const pager = el("nav", { class: "pager", "aria-label": "Pages of documents" }, ...back, position, ...forth);

  function show(page, announced = false) {
    listing.page = Math.min(Math.max(page, 0), last());
    const start = listing.page * PAGE_LENGTH;
    const shown = rows.slice(start, start + PAGE_LENGTH);
    list.replaceChildren(...shown.map((at) => drawDocument(documents[at], { within: node })));
    position.textContent = `${integer(start + 1)}–${integer(start + shown.length)} of ${integer(rows.length)}`;
    // A button that has the focus keeps it at the ends of the list.
    for (const button of back) button.setAttribute("aria-disabled", String(listing.page === 0));
    for (const button of forth) button.setAttribute("aria-disabled", String(listing.page === last()));
    pager.hidden = last() === 0;
    showMoreButtons(list);
    if (announced) {
      $("#status").textContent = `Documents ${position.textContent}`;
      if (section.getBoundingClientRect().top < 0) section.scrollIntoView({ block: "start" });
    }
  }

  const order = el("select", { id: "order", onchange: (event) => {
    listing.order = event.target.value;
    rows = documentsInOrder(node);
    show(0, true);
  } }, ...offered.map((key) => el("option", { value: key, selected: key === listing.order }, ORDERS[key][0])));
  const sorted = el("label", { class: "order" }, "Order ", order);
  section.replaceChildren(
    el("div", { class: "panel-head" }, $("h3", section), offered.length > 1 && rows.length > 1 ? sorted : ""),
    drawMissing(node, rows.length) ?? "", list, pager);
  if (rows.length) show(listing.page);
}

// The topic proportions of a document: a bar and, for a document that was opened, a list.
function drawMix(entry, found) {
  const shares = (entry.proportions ?? []).map(([leaf, share]) => ({ node: leafNode(leaf), share: share / 1000 }));
  if (!shares.length) return null;
  const words = shares.map(({ node, share }) => `${numbered(node)} ${percent(share, 0)}`).join("; ");
  const bar = el("span", { class: "mix", role: "img", "aria-label": `Topic proportions: ${words}`, title: words },
    ...shares.map(({ node, share }) => el("i", { style: { ...color(node), width: `${100 * share}%` } })));
  return found ? el("div", {}, bar, shareList(shares)) : bar;
}

// A document; `within` is the node whose documents are listed: the topic is named unless it is this.
function drawDocument(entry, { found = false, within = null } = {}) {
  const leaf = leafNode(entry.leaf);
  return el("article", { class: found ? "document found" : "document" },
    el("header", {}, user("b", entry.id),
      within === leaf ? null : el("span", { class: "of", style: color(leaf) }, drawName(leaf)),
      entry.label === null ? null : user("span", data.labels[entry.label], { class: "tag" })),
    drawMix(entry, found),
    entry.text ? user("p", entry.text, found ? {} : { class: "short" }) : el("p", { class: "note" }, "(no text)"),
  );
}

function drawFound() {
  if (state.found === null || !documents.length) return null;
  return el("section", { "aria-labelledby": "found-title" },
    el("h3", { id: "found-title" }, "Selected document"), drawDocument(documents[state.found], { found: true }));
}

function showMoreButtons(within) {
  for (const text of $$(".document p.short", within)) {
    if (text.scrollHeight <= text.clientHeight + 2) continue;
    const button = el("button", { type: "button", class: "more", "aria-expanded": "false", onclick: () => {
      const short = text.classList.toggle("short");
      button.textContent = short ? "Show more" : "Show less";
      button.setAttribute("aria-expanded", String(!short));
    } }, "Show more");
    $("header", text.parentElement).append(button);
  }
}
