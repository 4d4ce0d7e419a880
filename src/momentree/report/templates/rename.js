// Names given by the reader. They appear everywhere at once, and can be kept as a small file for the
// option --rename, or in a copy of the page.
const LONGEST_NAME = 120;
const namesOf = ({ name, name_parts, long_name_parts }) => ({ name, name_parts, long_name_parts });
const asName = (name) => ({ name, ...(nodes[0].name_parts ? { name_parts: [name], long_name_parts: [name] } : {}) });

// The number of a leaf, or the first and last number below another node. With a long dash, because
// spreadsheets take 1-3 for a date.
function keyOf(node) {
  const leaves = leavesOf(node).map(({ leaf }) => leaf);
  return node.leaf === null ? `${Math.min(...leaves)}–${Math.max(...leaves)}` : String(node.leaf);
}

// Names by nodes that can have one. A page made with names does not know those they replaced.
const keys = new Map(nodes.filter((node) => !isRoot(node)).map((node) => [node.id, keyOf(node)]));
const isGiven = (node) => keys.has(node.id) && keys.get(node.id).replace("–", "-") in (data.given_names ?? {});
const automatic = nodes.map((node) => data.automatic?.[node.id] ?? (isGiven(node) ? asName(unnamed(node)) : namesOf(node)));
const given = new Set(nodes.filter(isGiven).map((node) => node.id));
const opening = { names: nodes.map(namesOf), given: [...given] };
let unsaved = false;

// Show the name of a node in a document: this one, or a copy of it.
function showName(node, page = document) {
  const long = node.long_name_parts?.join(nameSeparator) ?? node.name;
  for (const element of $$(`[data-named="${node.id}"]`, page)) {
    element.textContent = element.hasAttribute("data-long") ? long : node.name;
  }
  for (const element of $$(`[data-titled="${node.id}"]`, page)) element.setAttribute("title", node.name);
  $(`.icicle [data-node="${node.id}"] title`, page).textContent = describe(node);
}

const tidy = (text) => text.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim();
const namesake = (node, name) => nodes.find((other) => other.id !== node.id && other.name === name);

function setName(node, name) {
  const before = node.name;
  if (!name || name === automatic[node.id].name) {
    Object.assign(node, automatic[node.id]);
    given.delete(node.id);
  } else {
    Object.assign(node, asName(name));
    given.add(node.id);
  }
  if (node.name === before) return;
  showName(node);
  setUnsaved(true);
  for (const listener of renamed) listener(node);
}

const warn = (event) => event.preventDefault();

function setUnsaved(now) {
  unsaved = now;
  window[now ? "addEventListener" : "removeEventListener"]("beforeunload", warn);
  drawNamesBar();
}

function drawNamesBar() {
  const bar = $("#names-bar");
  // Those who are handed a page with names need no advice on them.
  bar.hidden = nodes.every((node) => node.name === opening.names[node.id].name);
  const file = fileName("names", "csv");
  const count = given.size ? `${plural(given.size, "name")} of your own${unsaved ? ", not saved yet" : ""}` : "Your names are removed, which is not saved yet";
  bar.replaceChildren(
    el("p", {}, el("b", {}, `${count}. `), "To keep them, save a copy of this page, or the names alone: pass their file to momentree with ", el("code", {}, `--rename ${file}`), " when you make the report again."),
    el("div", { class: "tools" },
      el("button", { type: "button", id: "save-names", onclick: () => { saveNames(file); setUnsaved(false); } }, "Save names (CSV)"),
      el("button", { type: "button", id: "save-page", onclick: () => { savePage(); setUnsaved(false); } }, "Save page"),
      el("button", { type: "button", id: "undo-names", onclick: undoNames }, "Undo all"),
    ),
  );
}

// Back to the names with which the page was opened.
function undoNames() {
  given.clear();
  for (const id of opening.given) given.add(id);
  for (const node of nodes) {
    if (node.name === opening.names[node.id].name) continue;
    Object.assign(node, opening.names[node.id]);
    showName(node);
    for (const listener of renamed) listener(node);
  }
  setUnsaved(false);
  $("#topic").focus();
}

// Names are not marked as text for spreadsheets, so that they are read back as they were typed.
function saveNames(file) {
  const rows = [...given].sort((a, b) => a - b).map((id) => [keys.get(id), nodes[id].name]);
  download(file, `\ufeff${csv([["number", "name"], ...rows])}`, "text/csv");
}

function savePage() {
  const page = new DOMParser().parseFromString(source, "text/html");
  page.documentElement.classList.remove("js");
  const content = JSON.parse($("#data", page).textContent);
  content.given_names = {};
  content.automatic = {};
  for (const id of given) {
    content.given_names[keys.get(id).replace("–", "-")] = nodes[id].name;
    content.automatic[id] = automatic[id];
  }
  for (const node of content.nodes) {
    Object.assign(node, namesOf(nodes[node.id]));
    showName(nodes[node.id], page);
  }
  // The text fits the blocks again as soon as the copy is opened.
  $("#data", page).textContent = JSON.stringify(content).replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  download(fileName("report", "html"), `<!DOCTYPE html>\n${page.documentElement.outerHTML}\n`, "text/html");
}

// The heading of the selected node; the name of a leaf can be edited in place.
function drawTitle(node) {
  const chip = el("span", { class: isRoot(node) ? "chip root" : "chip", "aria-hidden": "true" });
  const heading = el("h2", { id: "topic-name", dir: "auto" }, drawNumber(node), el("span", { "data-named": node.id }, node.name));
  const title = el("div", { class: "topic-title" }, node.leaf === null ? chip : null, heading);
  if (keys.has(node.id)) title.append(el("button", { type: "button", class: "more", id: "rename", onclick: () => editName(node, title) }, "Rename"));
  return title;
}

function editName(node, title) {
  const done = (text) => {
    if (text !== null) {
      const name = tidy(text);
      const same = name && namesake(node, name);
      if (same) {
        $("#new-name-hint").textContent = `${flat ? "" : "Node "}${keys.get(same.id) ?? "The whole"} has this name already; names must differ.`;
        $("#new-name").setAttribute("aria-invalid", "true");
        return;
      }
      setName(node, name);
      $("#status").textContent = `The name is now ${node.name}`;
    }
    title.replaceWith(drawTitle(node));
    $("#rename").focus();
  };
  const input = el("input", { type: "text", class: "field", id: "new-name", value: node.name, maxlength: LONGEST_NAME, dir: "auto", autocomplete: "off", "aria-describedby": "new-name-hint" });
  const form = el("form", { class: "rename" },
    el("label", { for: "new-name", id: "topic-name" }, `New name of ${keys.get(node.id)}`), input,
    el("button", { type: "submit" }, "Rename"), el("button", { type: "button", onclick: () => done(null) }, "Cancel"),
    el("p", { class: "note", id: "new-name-hint", role: "status" }, "Leave it empty to restore the automatic name."));
  form.addEventListener("submit", (event) => { event.preventDefault(); done(input.value); });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    event.preventDefault();
    done(null);
  });
  title.replaceChildren(form);
  input.focus();
  input.select();
}

function setupRename() {
  $("main").prepend(el("section", { class: "names-bar", id: "names-bar", "aria-label": "Your names", hidden: true }));
  drawNamesBar();
}
