// The address of the page names the view, the selected node, and whether exact figures are shown:
// #view=table&node=5&figures=exact, without what is as at the start. Each act of the reader is one
// entry of the history; steps with the arrow keys in a row share one.
const atStart = { view: "explore", node: 0, exact: false };
let following = true;
let writing = null;
let stepped = false;

function addressOf({ view, node, exact }) {
  const parts = new URLSearchParams();
  if (view !== atStart.view) parts.set("view", view);
  if (node !== atStart.node) parts.set("node", node);
  if (exact) parts.set("figures", "exact");
  return `#${parts}`;
}

// What the address asks for, or null if it is the name of a part of the page. Links of the form
// #node-5 are those of pages without scripts.
function readAddress() {
  const hash = window.location.hash.slice(1);
  const link = /^node-(\d+)$/.exec(hash);
  if (!link && hash && !hash.includes("=")) return null;
  const parts = new URLSearchParams(link ? `node=${link[1]}` : hash);
  const view = parts.get("view");
  const node = /^\d+$/.test(parts.get("node") ?? "") ? Number(parts.get("node")) : atStart.node;
  return {
    view: tabs.some((tab) => viewOf(tab).id === view) ? view : atStart.view,
    node: node < nodes.length ? node : atStart.node,
    exact: parts.get("figures") === "exact",
  };
}

// All changes of one act are written together.
function remember({ step = false } = {}) {
  if (following) return;
  if (writing === null) queueMicrotask(writeAddress);
  writing = { step: step && (writing?.step ?? true) };
}

function writeAddress() {
  const { step } = writing;
  writing = null;
  const address = addressOf(state);
  if (address === (window.location.hash || "#")) return;
  try {
    history[step && stepped ? "replaceState" : "pushState"](null, "", address);
  } catch {
    // A page inside another page may have no address of its own.
  }
  stepped = step;
}

function goTo({ view, node, exact }, reveal = false) {
  following = true;
  showExact(exact);
  showView(view);
  choose(node, { reveal: reveal && view === atStart.view && node !== atStart.node });
  following = false;
  stepped = false;
}

function openNode(id, options = {}) {
  showView("explore");
  choose(id, { reveal: true, ...options });
}

// Links to nodes open them; links to other parts of the page leave the address as it is.
function onLink(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const name = link.getAttribute("href").slice(1);
  if (name.startsWith("node-")) {
    openNode(Number(name.slice("node-".length)));
    topic.focus({ preventScroll: true });
    return;
  }
  const target = document.getElementById(name);
  if (target.closest(".view")) showView(target.closest(".view").id);
  if (target.closest("details")) target.closest("details").open = true;
  target.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
  if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

function followAddress() {
  goTo(readAddress() ?? atStart, true);
  window.addEventListener("hashchange", () => {
    const wanted = readAddress();
    if (wanted !== null) goTo(wanted);
  });
  document.addEventListener("click", onLink);
}
