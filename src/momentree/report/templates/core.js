// The page as it came, for copies of it.
const source = document.documentElement.outerHTML;
// The data, small helpers, and the selected node. Text from the data becomes text nodes and
// attributes only, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes;
// A flat model is a tree with one level: the root, and its parts below.
const flat = data.kind.endsWith("flat");
const state = { view: null, node: 0, exact: false, lambda: data.default_lambda, found: null };
const listeners = []; // called with the selected node
const renamed = []; // called with a node whose name has changed
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") {
      for (const [name, setting] of Object.entries(value)) element.style.setProperty(name, setting);
    } else if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const user = (tag, text, attributes = {}) => el(tag, { dir: "auto", ...attributes }, text);
const integer = (value) => value.toLocaleString("en");
const plural = (count, noun) => `${integer(count)} ${noun}${count === 1 ? "" : "s"}`;

function percent(share, digits = 1) {
  const value = 100 * share;
  const least = 10 ** -digits;
  return value > 0 && value < least ? `< ${least}%` : `${value.toFixed(digits)}%`;
}

function amount(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

// Text for comparison, without case and accents.
const comparable = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{Mn}/gu, "");

// A labeled number in the list at the top of a node. `exact`: whether its note is an exact figure,
// shown on request; "only" if all of it is.
const fact = (name, value, note = "", title = null, exact = false) =>
  el("div", { title, class: exact === "only" ? "exact-figure" : null }, el("dt", {}, name), el("dd", {}, value, note ? el("small", { class: exact === true ? "exact-figure" : null }, ` ${note}`) : null));

const numbered = (node) => (node.leaf === null ? node.name : `${node.leaf} ${node.name}`);
const describe = (node) => `${numbered(node)}: ${sizeOf(node)}, ${percent(node.share)}`;
function drawNumber(node) {
  const both = new DocumentFragment();
  if (node.leaf !== null) both.append(el("span", { class: "number" }, String(node.leaf)), " ");
  return both;
}

// The name of a node with its number; both follow when the name changes.
const drawName = (node, tag = "span") => el("span", {}, drawNumber(node), user(tag, node.name, { "data-named": node.id }));
// Leaves in the order of the page, that with a number, and those below a node.
const leafNodes = nodes.filter((node) => node.leaf !== null);
const leafNode = (leaf) => leafNodes.find((node) => node.leaf === leaf);
const leavesOf = (node) => (node.children.length ? node.children.flatMap((id) => leavesOf(nodes[id])) : [node]);
const isRoot = (node) => node.parent === null && node.children.length > 0;
const color = (node) => ({ "--h": node.cell.hue });

function path(node) {
  const above = [];
  for (let id = node.parent; id !== null; id = nodes[id].parent) above.unshift(nodes[id]);
  return above;
}

// Select a node in all views. `reveal` scrolls to it if it is out of sight; `step` marks one of many
// steps by keyboard.
function choose(id, { reveal = false, found = null, step = false } = {}) {
  const changed = state.node !== id;
  state.node = id;
  state.found = found;
  for (const listener of listeners) listener(nodes[id], changed);
  remember({ step });
  const node = nodes[id];
  $("#status").textContent = `${numbered(node)}: ${sizeOf(node)}`;
  if (reveal) revealTopic();
}

function revealTopic() {
  const topic = $("#topic");
  const box = topic.getBoundingClientRect();
  if (box.top < 0 || box.top > window.innerHeight * 0.6) {
    topic.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
  }
}
