// The static nested list becomes an ARIA tree with one tab stop, arrow keys and type-ahead.
const tree = $("#tree");
// The items are the rows; each owns the list beside it, so that its name is its own text alone.
const items = new Map($$("li", tree).map((entry) => [Number(entry.dataset.node), $(".row", entry)]));
const isOpen = (item) => item.getAttribute("aria-expanded") === "true";
// If there are more leaves than fit a screen, only the top of the tree is initially expanded.
const UNFOLDED_LEAVES = 24;
const UNFOLDED_DEPTH = 3;

function setOpen(item, open) {
  if (item.hasAttribute("aria-expanded")) item.setAttribute("aria-expanded", String(open));
}

function visibleItems() {
  return nodes.filter((node) => path(node).every((above) => isOpen(items.get(above.id)))).map((node) => items.get(node.id));
}

function setupTree() {
  tree.setAttribute("role", "tree");
  tree.setAttribute("aria-labelledby", "tree-title");
  for (const list of $$("ul", tree)) list.setAttribute("role", "group");
  for (const [id, item] of items) {
    const node = nodes[id];
    const siblings = node.parent === null ? [id] : nodes[node.parent].children;
    const entry = item.parentElement;
    entry.setAttribute("role", "none");
    // The address contains the id of a node; the browser must not scroll to it past the header.
    entry.removeAttribute("id");
    item.dataset.node = id;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", node.depth + 1);
    item.setAttribute("aria-setsize", siblings.length);
    item.setAttribute("aria-posinset", siblings.indexOf(id) + 1);
    item.tabIndex = -1;
    labelItem(node);
    if (node.children.length) {
      $("ul", entry).id = `below-${id}`;
      item.setAttribute("aria-owns", `below-${id}`);
      const open = data.n_leaves <= UNFOLDED_LEAVES || node.depth < UNFOLDED_DEPTH;
      item.setAttribute("aria-expanded", String(open));
    }
  }
  tree.addEventListener("click", onTreeClick);
  tree.addEventListener("keydown", onTreeKey);
  $("#unfold").addEventListener("click", () => items.forEach((item) => setOpen(item, true)));
  $("#fold").addEventListener("click", () => {
    items.forEach((item, id) => setOpen(item, id === 0));
    showInTree(nodes[state.node]);
  });
  listeners.push(showInTree);
  renamed.push(labelItem);
}

function labelItem(node) {
  const name = node.residual ? `residual group ${node.name}` : node.name;
  items.get(node.id).setAttribute("aria-label", `${numbered({ ...node, name })}, ${sizeOf(node)}`);
}

// The selected node, or the nearest visible node above it, is the tab stop.
function showInTree(node, changed = false) {
  if (changed) for (const above of path(node)) setOpen(items.get(above.id), true);
  const shown = [...path(node), node].find(
    (above) => above.id === node.id || !isOpen(items.get(above.id)),
  );
  for (const [id, item] of items) {
    item.setAttribute("aria-selected", String(id === node.id));
    item.tabIndex = id === shown.id ? 0 : -1;
  }
  const panel = $(".tree-panel");
  if (changed && panel.scrollHeight > panel.clientHeight) {
    const row = items.get(node.id).getBoundingClientRect();
    const box = panel.getBoundingClientRect();
    if (row.top < box.top) panel.scrollTop -= box.top - row.top + 8;
    if (row.bottom > box.bottom) panel.scrollTop += row.bottom - box.bottom + 8;
  }
}

function onTreeClick(event) {
  const item = event.target.closest(".row");
  if (!item) return;
  if (event.target.closest(".twisty") && item.hasAttribute("aria-expanded")) {
    setOpen(item, !isOpen(item));
    showInTree(nodes[state.node]);
    return;
  }
  choose(Number(item.dataset.node), { reveal: true });
  item.focus({ preventScroll: true });
}

function backToTree(event) {
  event.preventDefault();
  $("#tree-title").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
  items.get(state.node).focus({ preventScroll: true });
}

const backLink = (parts) => el("a", { class: "back", href: "#tree-title", onclick: backToTree }, `Back to the ${flat ? parts : "tree"}`);

// The ancestors of a node as buttons; `nameOf` shortens their names.
function drawTrail(node, nameOf = (other) => other.name) {
  const above = path(node);
  if (!above.length) return el("p", { class: "trail" }, "Overview");
  return el("nav", { "aria-label": "Nodes above this one" }, el("ol", { class: "trail" }, ...above.map((other) =>
    el("li", {}, user("button", nameOf(other), { type: "button", title: other.name, onclick: () => choose(other.id) })),
  )));
}

// The relevance slider; `update` redraws the list that it orders, and `end` labels its upper end.
function drawSlider(end, update) {
  return el("div", { class: "slider" },
    el("label", { for: "lambda" }, "Order of the list", el("output", { for: "lambda", id: "lambda-value", class: "exact-figure" })),
    el("input", {
      type: "range", id: "lambda", min: 0, max: 1, step: 0.01, value: state.lambda ?? 0.7,
      oninput: (event) => { state.lambda = Number(event.target.value); update(nodes[state.node]); },
    }),
    el("div", { class: "ends", "aria-hidden": "true" }, el("span", {}, "distinctive"), el("span", {}, end)),
    data.default_lambda === null ? el("button", { type: "button", class: "more", id: "best-first", onclick: () => {
      state.lambda = null;
      $("#lambda").value = 0.7;
      update(nodes[state.node]);
    } }, "Best words first") : null,
  );
}

function showLambda() {
  const best = $("#best-first");
  if (best) best.hidden = state.lambda === null;
  if (state.lambda === null) {
    $("#lambda-value").textContent = "";
    $("#lambda").setAttribute("aria-valuetext", "best words first");
    return;
  }
  const value = state.lambda.toFixed(2);
  $("#lambda-value").textContent = `λ = ${value}`;
  $("#lambda").setAttribute("aria-valuetext", state.exact ? `lambda ${value}` : `${Math.round(100 * state.lambda)}% by frequency`);
}

// The parts of a node, as buttons.
function drawSplits(node, parts, sizeIn, wordsOf) {
  if (!node.children.length) return null;
  return el("section", { "aria-labelledby": "splits-title" },
    el("h3", { id: "splits-title" }, flat ? `${parts} by size` : "Splits into"),
    el("div", { class: "splits" }, ...node.children.map((id) => nodes[id]).map((child) =>
      el("button", { type: "button", style: color(child), onclick: () => choose(child.id, { reveal: true }) },
        el("span", { class: "line" }, el("b", {}, drawName(child)), el("span", {}, sizeIn(child))),
        user("p", wordsOf(child)),
      ))),
  );
}

let typed = "";
let typedAt = 0;

function onTreeKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const item = event.target.closest(".row");
  const { parent } = nodes[item.dataset.node];
  const visible = visibleItems();
  const at = visible.indexOf(item);
  let next = null;
  switch (event.key) {
    case "ArrowDown": next = visible[at + 1]; break;
    case "ArrowUp": next = visible[at - 1]; break;
    case "Home": next = visible[0]; break;
    case "End": next = visible[visible.length - 1]; break;
    case "ArrowRight":
      if (isOpen(item)) next = visible[at + 1];
      else setOpen(item, true);
      break;
    case "ArrowLeft":
      if (isOpen(item)) setOpen(item, false);
      else next = items.get(parent);
      break;
    case "Enter":
      choose(Number(item.dataset.node), { reveal: true });
      break;
    case " ":
      setOpen(item, !isOpen(item));
      break;
    case "*":
      for (const node of nodes) if (node.parent === parent) setOpen(items.get(node.id), true);
      break;
    default: {
      if (event.key.length !== 1) return;
      typed = event.timeStamp - typedAt < 700 ? typed + event.key : event.key;
      typedAt = event.timeStamp;
      const prefix = typed.toLowerCase();
      const order = [...visible.slice(at + 1), ...visible.slice(0, at + 1)];
      next = order.find((other) => nodes[other.dataset.node].name.toLowerCase().startsWith(prefix));
    }
  }
  event.preventDefault();
  if (next) {
    choose(Number(next.dataset.node), { step: true });
    next.focus();
  }
}
