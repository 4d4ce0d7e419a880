// The views behind tabs, and the table, sortable by any column.
const tabs = $$('[role="tab"]');
const viewOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

function showView(name, focus = false) {
  state.view = name;
  for (const tab of tabs) {
    const shown = viewOf(tab).id === name;
    tab.setAttribute("aria-selected", String(shown));
    tab.tabIndex = shown ? 0 : -1;
    viewOf(tab).hidden = !shown;
    if (shown && focus) tab.focus();
  }
  remember();
}

// Exact figures stand beside plain words on request.
function showExact(shown) {
  state.exact = shown;
  $("#exact").checked = shown;
  document.documentElement.classList.toggle("exact", shown);
  remember();
}

function setupViews() {
  for (const tab of tabs) {
    const view = viewOf(tab);
    view.setAttribute("role", "tabpanel");
    view.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => showView(view.id));
    tab.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(tab);
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      showView(viewOf(tabs[(next + tabs.length) % tabs.length]).id, true);
    });
  }
  $("#exact").addEventListener("change", (event) => showExact(event.target.checked));
}

function sortValue(node, key) {
  if (key === "npmi" || key === "umass") return node.coherence ? node.coherence[key] : null;
  if (key === "coherence") return node.coherence && !isRoot(node) ? node.coherence.npmi : null;
  if (key === "separation") return node.separation?.agreement ?? null;
  if (key === "gain") return node.children.length ? node.gain : null;
  if (key === "label") return node.labels.length ? data.labels[node.labels[0][0]] : null;
  return node[key];
}

// Nodes without a value come last in both directions; ties keep the order of the tree.
function compare(a, b, key, sign) {
  const [x, y] = [sortValue(a, key), sortValue(b, key)];
  if (x === null || y === null) return (x === null) - (y === null) || a.id - b.id;
  const order = typeof x === "string" ? x.localeCompare(y) : x - y;
  return sign * order || a.id - b.id;
}

function setupTable() {
  const table = $("#table table");
  const body = $("tbody", table);
  const rows = new Map($$("tr", body).map((row) => [Number(row.dataset.node), row]));
  const heads = $$("thead th", table);
  const sort = (head, direction) => {
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    table.classList.toggle("tree-order", head.dataset.key === "id" && direction === "ascending");
    const sign = direction === "ascending" ? 1 : -1;
    const order = [...nodes].sort((a, b) => compare(a, b, head.dataset.key, sign));
    body.replaceChildren(...order.map((node) => rows.get(node.id)));
  };
  for (const head of heads) {
    const button = el("button", { type: "button", onclick: () => {
      const current = head.getAttribute("aria-sort");
      const first = ["id", "label"].includes(head.dataset.key) ? "ascending" : "descending";
      sort(head, current === null ? first : current === "ascending" ? "descending" : "ascending");
    } }, head.textContent);
    head.replaceChildren(button);
  }
  sort(heads[0], "ascending");
  $("#leaves-only").addEventListener("change", (event) => {
    for (const [id, row] of rows) row.hidden = event.target.checked && nodes[id].children.length > 0;
  });
}
