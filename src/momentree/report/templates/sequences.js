// The selected state: its codes, what comes next and before, and how long it lasts.
const topic = $("#topic");
const { codes } = data;
const nameSeparator = "\u00a0· ";
const unnamed = (node) => node.top.slice(0, 3).map((j) => codes.short[j]).join(nameSeparator) || `state ${node.leaf}`;
const sizeOf = (node) => `${node.size} steps`;
const DIAGRAM_NAME = 190; // width of a line, in units of the diagram
const pick = (id) => openNode(id);
const states = leafNodes.map((node) => node.leaf).sort((a, b) => a - b);

function drawState(node) {
  topic.style.setProperty("--h", node.cell.hue);
  topic.replaceChildren(...[
    drawTrail(node, (other) => other.name_parts[0]),
    drawTitle(node),
    drawNumbers(node),
    el("div", { class: "parts" },
      el("div", {}, drawTop(node)),
      el("div", {}, ...(isRoot(node) ? [drawStates(node)] : drawMoves(node)))),
    backLink("states"),
  ].filter(Boolean));
  for (const circle of $$(".diagram .state")) circle.classList.toggle("chosen", Number(circle.dataset.node) === node.id);
  for (const part of $$(".diagram :is(.arrow, .likely)")) {
    part.classList.toggle("faint", !isRoot(node) && ![part.dataset.from, part.dataset.to].includes(String(node.id)));
  }
}

function drawNumbers(node) {
  if (isRoot(node)) {
    return el("dl", { class: "numbers" }, fact("Sequences", integer(data.n_sequences)), fact("Steps", integer(data.n_steps)), fact("Steps per sequence", amount(data.n_steps / data.n_sequences)), fact("States", integer(data.n_leaves)));
  }
  const start = data.startprob[node.leaf];
  return el("dl", { class: "numbers" },
    fact("Share of all steps", percent(node.share)),
    fact("Sequences that visit it", typeof node.sequences === "number" ? integer(node.sequences) : node.sequences, `of ${integer(data.n_sequences)}`),
    fact("First step of a sequence", start === null ? "hidden" : percent(start, 0)),
    node.stay === null ? null : fact("Steps of a stay", amount(node.stay), "on average"),
  );
}

function drawTop(node) {
  const scale = Math.max(0.02, ...node.top_rates, ...node.top.map((j) => codes.rate[j])) * 1.04;
  const at = (rate) => `${(100 * rate) / scale}%`;
  return el("section", { "aria-labelledby": "words-title" },
    el("h3", { id: "words-title" }, isRoot(node) ? "The most common codes" : "Distinctive codes"),
    el("p", { class: "note" }, isRoot(node) ? "The share of all steps with each code." : "The bar is the probability of the code at a step in this state, the tick its share of all steps."),
    el("ol", { class: "code-list", id: "words" }, ...node.top.map((j, rank) => el("li", { title: `${codes.code[j]} ${codes.name[j] === codes.code[j] ? "" : codes.name[j]}`.trim() },
      user("span", codes.short[j], { class: "word" }),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: at(node.top_rates[rank]) } }), isRoot(node) ? null : el("b", { style: { left: at(codes.rate[j]) } })),
      el("span", { class: "value" }, percent(node.top_rates[rank], node.top_rates[rank] < 0.095 ? 1 : 0), isRoot(node) ? null : el("span", { class: "hidden" }, `; ${percent(codes.rate[j])} of all steps`)),
    )), node.top.length ? null : el("li", { class: "note" }, "Too few sequences to show any code.")),
  );
}

// States with a probability, as bars; null is hidden.
function stateList(title, id, note, found) {
  const shares = found.filter(([, share]) => share !== null && share >= 0.005).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return el("section", { "aria-labelledby": id },
    el("h3", { id }, title), el("p", { class: "note" }, note),
    shares.length ? el("ul", { class: "state-list" }, ...shares.map(([leaf, share]) => el("li", { style: color(leafNode(leaf)) },
      el("button", { type: "button", onclick: () => choose(leafNode(leaf).id, { reveal: true }) }, drawName(leafNode(leaf))),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${100 * share}%` } })),
      el("span", { class: "value" }, percent(share, share < 0.095 ? 1 : 0)),
    ))) : el("p", { class: "note" }, "None that enough sequences have in common."));
}

function drawMoves(node) {
  const { leaf } = node;
  const stays = data.transmat[leaf][leaf];
  const left = stays === null ? null : 1 - stays;
  const next = left ? states.filter((other) => other !== leaf).map((other) => [other, data.transmat[leaf][other] === null ? null : data.transmat[leaf][other] / left]) : [];
  const flows = states.filter((other) => other !== leaf).map((other) => [other, data.transmat[other][leaf] === null ? null : leafNode(other).share * data.transmat[other][leaf]]);
  const total = flows.reduce((sum, [, flow]) => sum + (flow ?? 0), 0);
  return [
    stateList("What comes next", "next-title", "When the state is left: the probability of each other state.", next),
    stateList("What comes before", "before-title", "When the state is entered from another one: the share of each.", total ? flows.map(([other, flow]) => [other, flow === null ? null : flow / total]) : []),
  ];
}

const drawStates = (node) => drawSplits(node, "States", (child) => percent(child.share, 0), (child) => child.top.slice(0, 8).map((j) => codes.short[j]).join(nameSeparator));

// Names in the diagram have two lines; one given by the reader has the first alone.
renamed.push((node) => {
  const lines = $$(`.diagram .state[data-node="${node.id}"] .state-name`);
  if (!lines.length) return;
  ruler.font = `14px ${CHART_FONT}`;
  lines[0].textContent = fitLetters(node.name_parts[0], DIAGRAM_NAME);
  if (lines[1]) lines[1].textContent = fitLetters(node.name_parts.slice(1).join(nameSeparator), DIAGRAM_NAME);
});

// Columns of the table that are sorted, but are no part of the nodes.
for (const node of nodes) {
  node.visits = node.leaf === null ? data.n_sequences : typeof node.sequences === "number" ? node.sequences : 0;
  node.start = node.leaf === null ? null : data.startprob[node.leaf];
}
