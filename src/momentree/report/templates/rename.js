// Names given by the reader to leaves. They appear everywhere at once, and can be kept as a small
// file for the option --names, or in a copy of the page.
const LONGEST_NAME = 200;
const namesOf = ({ name, name_parts, long_name_parts }) => ({ name, name_parts, long_name_parts });
// A saved copy of a page also contains the names before.
const automatic = nodes.map((node) => node.automatic ?? namesOf(node));
const given = new Set(nodes.filter((node) => node.automatic).map((node) => node.id));
const namesAtStart = given.size;
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

function setName(node, text) {
  const name = text.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, LONGEST_NAME);
  const before = node.name;
  if (!name || name === automatic[node.id].name) {
    Object.assign(node, automatic[node.id]);
    given.delete(node.id);
  } else {
    Object.assign(node, { name }, node.name_parts ? { name_parts: [name], long_name_parts: [name] } : {});
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
  bar.hidden = !given.size && !unsaved;
  const file = fileName("names", "csv");
  const count = given.size ? `${plural(given.size, "name")} of your own${unsaved ? ", not saved yet" : ""}` : "Your names are removed, which is not saved yet";
  bar.replaceChildren(
    el("p", {}, el("b", {}, `${count}. `), "To keep them, save a copy of this page, or the names alone: pass their file to momentree with ", el("code", {}, `--names ${file}`), " when you make the report again."),
    el("div", { class: "tools" },
      el("button", { type: "button", id: "save-names", onclick: () => { saveNames(file); setUnsaved(false); } }, "Save names (CSV)"),
      el("button", { type: "button", id: "save-page", onclick: () => { savePage(); setUnsaved(false); } }, "Save page"),
      el("button", { type: "button", id: "undo-names", onclick: undoNames }, "Undo all"),
    ),
  );
}

function undoNames() {
  for (const id of [...given]) setName(nodes[id], "");
  if (!namesAtStart) setUnsaved(false);
  $("#topic").focus();
}

// Names are not marked as text for spreadsheets, so that they are read back as they were typed.
function saveNames(file) {
  const rows = [...given].map((id) => nodes[id]).sort((a, b) => a.leaf - b.leaf).map((node) => [node.leaf, node.name]);
  download(file, csv([["number", "name"], ...rows]), "text/csv");
}

function savePage() {
  const page = new DOMParser().parseFromString(source, "text/html");
  page.documentElement.classList.remove("js");
  const content = JSON.parse($("#data", page).textContent);
  for (const node of content.nodes) {
    Object.assign(node, namesOf(nodes[node.id]));
    if (given.has(node.id)) node.automatic = automatic[node.id];
    else delete node.automatic;
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
  if (node.leaf !== null) title.append(el("button", { type: "button", class: "more", id: "rename", onclick: () => editName(node, title) }, "Rename"));
  return title;
}

function editName(node, title) {
  const done = (text) => {
    if (text !== null) {
      setName(node, text);
      $("#status").textContent = `The name is now ${node.name}`;
    }
    title.replaceWith(drawTitle(node));
    $("#rename").focus();
  };
  const input = el("input", { type: "text", class: "field", id: "new-name", value: node.name, maxlength: LONGEST_NAME, dir: "auto", autocomplete: "off", "aria-describedby": "new-name-hint" });
  const form = el("form", { class: "rename" },
    el("label", { for: "new-name", id: "topic-name" }, `New name of ${flat || data.n_leaves === 1 ? "" : "leaf "}${node.leaf}`), input,
    el("button", { type: "submit" }, "Rename"), el("button", { type: "button", onclick: () => done(null) }, "Cancel"),
    el("p", { class: "note", id: "new-name-hint" }, "Leave it empty to restore the automatic name."));
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
