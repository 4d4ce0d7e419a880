// Search in the names, labels and beginnings of the included documents, and in all words.
const query = $("#query");
const results = $("#results");
const MOST_DOCUMENTS = 40;
const MOST_TOPICS = 6;
let haystacks = null;

function haystack(entry) {
  const label = entry.label === null ? "" : data.labels[entry.label];
  return comparable(`${entry.id}\n${label}\n${entry.text}`);
}

function findDocuments(parts) {
  if (haystacks?.length !== documents.length) haystacks = documents.map(haystack);
  const hits = [];
  haystacks.forEach((text, at) => {
    if (parts.every((part) => text.includes(part))) hits.push(at);
  });
  // Documents whose names match come first, then those in the order of the input.
  hits.sort((a, b) => documents[a].row - documents[b].row);
  const named = (at) => parts.every((part) => comparable(documents[at].id).includes(part));
  return [...hits.filter(named), ...hits.filter((at) => !named(at))];
}

function findTopics(parts) {
  const matching = new Set();
  data.words.word.forEach((word, at) => {
    if (parts.some((part) => comparable(word).startsWith(part))) matching.add(at);
  });
  const hits = [];
  for (const node of nodes) {
    if (node.parent === null && node.children.length) continue;
    let score = 0;
    node.top.forEach((word, rank) => { if (matching.has(word)) score += 1 / (rank + 1); });
    if (parts.every((part) => comparable(node.name).includes(part))) score += 1;
    if (score > 0) hits.push([score, node]);
  }
  hits.sort((a, b) => b[0] - a[0] || b[1].depth - a[1].depth || a[1].id - b[1].id);
  return hits.map(([, node]) => node);
}

// Mark the matches in a text, cut so that the first match is visible.
function marked(text, parts) {
  const letters = Array.from(text);
  const parallel = letters.map(comparable);
  const starts = [];
  let joined = "";
  parallel.forEach((letter, at) => { for (let i = 0; i < letter.length; i += 1) starts.push(at); joined += letter; });
  const inside = new Array(letters.length).fill(false);
  let first = -1;
  for (const part of parts) {
    for (let at = joined.indexOf(part); at >= 0; at = joined.indexOf(part, at + part.length)) {
      if (first < 0 || starts[at] < first) first = starts[at];
      for (let i = at; i < at + part.length; i += 1) inside[starts[i]] = true;
    }
  }
  let from = first > 90 ? first - 40 : 0;
  while (from && from < first && letters[from - 1].trim()) from += 1; // begin with a whole word
  const span = el("span", { class: "text", dir: "auto" }, from ? "…" : "");
  for (let at = from; at < letters.length;) {
    let end = at;
    while (end < letters.length && inside[end] === inside[at]) end += 1;
    const piece = letters.slice(at, end).join("");
    span.append(inside[at] ? el("mark", {}, piece) : piece);
    at = end;
  }
  return span;
}

// What has been searched, and what has not.
function searched() {
  if (documentsRead === null) return "Reading the documents …";
  const { shown, total, sampled, searched: length } = data.documents;
  if (!documentsRead || !shown) return "This page shows no documents, so none were searched.";
  const parts = length ? `names, labels and at least the first ${length} characters` : "names, labels and texts";
  return sampled
    ? `Searched the ${parts} of ${integer(shown)} of ${integer(total)} documents. The others are not in this page.`
    : `Searched the ${parts} of all ${plural(total, "document")}.`;
}

function search() {
  const parts = comparable(query.value).split(/\s+/).filter(Boolean);
  results.hidden = !parts.length;
  if (!parts.length) return;
  const topics = findTopics(parts);
  const hits = findDocuments(parts);
  const content = [];
  if (topics.length) {
    content.push(el("h2", {}, "Topics and groups"), ...topics.slice(0, MOST_TOPICS).map((node) =>
      el("button", { type: "button", style: color(node), onclick: () => pick(node.id) },
        el("span", { class: "line" }, node.leaf === null ? el("span", { class: "chip", "aria-hidden": "true" }) : null, el("b", {}, drawName(node)), el("span", { class: "end" }, integer(node.n_samples))),
        marked(node.top.slice(0, 12).map((word) => data.words.word[word]).join(", "), parts),
      )));
  }
  const count = hits.length > MOST_DOCUMENTS ? `the first ${MOST_DOCUMENTS} of ${integer(hits.length)}` : integer(hits.length);
  content.push(el("h2", {}, hits.length ? `Documents (${count})` : "No document found"), el("p", { class: "note" }, searched()), ...hits.slice(0, MOST_DOCUMENTS).map((at) => {
    const entry = documents[at];
    const leaf = leafNode(entry.leaf);
    return el("button", { type: "button", style: color(leaf), onclick: () => pick(leaf.id, at) },
      el("span", { class: "line" }, user("b", entry.id), el("span", { class: "end" }, entry.label === null ? drawName(leaf) : el("span", {}, drawNumber(leaf), user("span", data.labels[entry.label])))),
      marked(entry.text, parts),
    );
  }));
  results.replaceChildren(...content);
  results.scrollTop = 0;
  $("#status").textContent = `${plural(hits.length, "document")} and ${plural(topics.length, "topic")} found`;
}

function pick(id, found = null) {
  results.hidden = true;
  showView("explore");
  choose(id, { reveal: true, found });
  topic.focus({ preventScroll: true });
}

function setupSearch() {
  let timer = 0;
  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 60);
  });
  query.addEventListener("focus", () => { if (query.value) search(); });
  $(".search").addEventListener("keydown", (event) => {
    const buttons = $$("button", results);
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") {
      results.hidden = true;
      query.focus();
      results.hidden = true;
    } else if (event.key === "ArrowDown" && !results.hidden && at + 1 < buttons.length) {
      buttons[at + 1].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      (buttons[at - 1] ?? query).focus();
    } else if (event.key === "Enter" && document.activeElement === query && buttons.length) {
      buttons[0].click();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) results.hidden = true;
  });
}
