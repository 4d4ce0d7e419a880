// Assign a record: compute the probabilities of the groups from its codes.
const scoring = data.scoring;
const MOST_OPTIONS = 12;
const chosenCodes = [];
let option = -1;

// `logs`: log P[group | codes] up to a constant; `leaf`: the group that the model assigns.
const assign = (indices) => follow(scoring, everyone.length, indices);

// The same for any rule with `size` leaves.
function follow(rule, size, indices) {
  if (rule.kind === "nested") return followNested(rule, size, indices);
  return rule.kind === "rules" ? followRules(rule, size, indices) : addScores(rule, size, indices);
}

const logSum = (values) => {
  const top = Math.max(...values);
  return top === -Infinity ? top : top + Math.log(sum(values.map((value) => Math.exp(value - top))));
};

const numbers = (size) => Array.from({ length: size }, (_, leaf) => leaf);

function addScores(rule, size, indices) {
  const scores = rule.intercept.map((intercept, m) => intercept + sum(indices.map((j) => rule.coef[m][j])));
  const logs = numbers(size).map((leaf) => logSum(scores.filter((_, m) => rule.group[m] === leaf)));
  const total = logSum(logs);
  return { logs: logs.map((value) => value - total), leaf: rule.group[scores.indexOf(Math.max(...scores))] };
}

// The score of each side of a rule for a record, and its log-probability.
function sidesOf(node, indices) {
  const linear = node.intercept.map((intercept, side) => intercept + sum(indices.map((j) => node.coef[side][j])));
  const total = logSum(linear);
  if (node.kind === "linear") return { scores: linear, logs: linear.map((value) => value - total) };
  const scores = linear.map((value) => value ** 2);
  const all = sum(scores);
  return { scores, logs: scores.map((value) => Math.log(all > 0 ? value / all : 1 / scores.length)) };
}

// From the root down; after a merge, several sides lead to one group.
function followRules(rule, size, indices) {
  const sides = rule.nodes.map((node) => sidesOf(node, indices));
  const inner = rule.nodes.map((_, at) => (at === 0 ? 0 : -Infinity));
  const logs = numbers(size).map(() => (sides.length ? -Infinity : 0));
  rule.nodes.forEach((node, at) => node.children.forEach((child, side) => {
    const part = inner[at] + sides[at].logs[side];
    if (child < 0) logs[-1 - child] = logSum([logs[-1 - child], part]);
    else inner[child] = logSum([inner[child], part]);
  }));
  let at = sides.length ? 0 : -1;
  while (at >= 0) at = rule.nodes[at].children[sides[at].scores.indexOf(Math.max(...sides[at].scores))];
  return { logs, leaf: -1 - at };
}

// Groups split by hand: apply the first rule, then other rules within its leaves.
function followNested(rule, size, indices) {
  const base = follow(rule.base, rule.parts.length, indices);
  const logs = numbers(size).map(() => -Infinity);
  const leaves = rule.parts.map((part, at) => {
    if (typeof part === "number") {
      logs[part] = logSum([logs[part], base.logs[at]]);
      return part;
    }
    const within = follow(part.scoring, part.leaves.length, indices);
    part.leaves.forEach((leaf, i) => { logs[leaf] = logSum([logs[leaf], base.logs[at] + within.logs[i]]); });
    return part.leaves[within.leaf];
  });
  return { logs, leaf: leaves[base.leaf] };
}

// Log-odds of a group against all others.
function logOdds(indices, leaf) {
  const { logs } = assign(indices);
  return logs[leaf] - logSum(logs.filter((_, other) => other !== leaf));
}

function optionsFor(text) {
  const parts = comparable(text).split(/\s+/).filter(Boolean);
  if (!parts.length) return [];
  const start = parts.join(" ");
  const rank = (j) => (comparable(codes.code[j]).startsWith(start) ? 0 : comparable(codes.name[j]).startsWith(start) ? 1 : 2);
  return allCodes.filter((j) => parts.every((part) => haystacks[j].includes(part)) && !chosenCodes.includes(j))
    .map((j) => [rank(j), baseOf(j), j])
    .sort((a, b) => a[0] - b[0] || b[1] - a[1] || a[2] - b[2])
    .slice(0, MOST_OPTIONS).map(([, , j]) => j);
}

// A code for comparison: without its dot, unless fewer than three digits precede it, because 38.9
// is not 389. For codes rolled up by ICD-9, restore lost zeros: 38.9 becomes 038.9.
function bare(code) {
  const text = comparable(code).replace(/\s/g, "");
  if (!/^\d{1,2}(\.|$)/.test(text)) return text.replace(/\./g, "");
  return data.rollup === "icd9" ? text.replace(/^\d+/, (head) => head.padStart(3, "0")).replace(/\./g, "") : text;
}

// The column of a typed code: the code itself, or its longest prefix of three characters or more.
function codeOf(text) {
  const typed = bare(text);
  if (!typed) return -1;
  const known = codes.code.map(bare);
  for (let length = typed.length; length >= Math.min(3, typed.length); length -= 1) {
    const found = known.indexOf(typed.slice(0, length));
    if (found >= 0) return found;
  }
  return -1;
}

function addCodes(indices, unknown = []) {
  const fresh = indices.filter((j, at) => !chosenCodes.includes(j) && indices.indexOf(j) === at);
  chosenCodes.push(...fresh);
  const had = indices.length - fresh.length;
  $("#assign-message").textContent = [
    unknown.length ? `No code or name matches “${unknown.join("”, “")}”.` : "",
    had ? `${plural(had, "code")} already entered.` : "",
  ].join(" ").trim();
  $("#code-query").value = "";
  showOptions();
  drawAssigned();
}

const named = (text) => codes.name.findIndex((name) => comparable(name) === comparable(text).trim());

// Enter a name, codes separated by commas or blanks, or part of a name (first option).
function enterCodes(text) {
  if (named(text) >= 0) { addCodes([named(text)]); return; }
  const pieces = text.split(/[,;|\n\t]+/).map((piece) => piece.trim()).filter(Boolean);
  // "401 250" is two codes, "heart failure" is one name.
  const words = pieces.flatMap((piece) => (piece.split(/\s+/).every((word) => codeOf(word) >= 0) ? piece.split(/\s+/) : [piece]));
  const found = words.map((word) => [word, [codeOf(word), named(word), words.length === 1 ? optionsFor(word)[0] ?? -1 : -1].find((j) => j >= 0) ?? -1]);
  addCodes(found.filter(([, j]) => j >= 0).map(([, j]) => j), found.filter(([, j]) => j < 0).map(([word]) => word));
}

function showOptions() {
  const query = $("#code-query");
  const list = $("#code-options");
  const found = optionsFor(query.value);
  option = -1;
  list.hidden = !found.length;
  query.setAttribute("aria-expanded", String(found.length > 0));
  query.removeAttribute("aria-activedescendant");
  list.replaceChildren(...found.map((j, at) => el("li", { role: "option", id: `option-${at}`, "data-code": j, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); addCodes([j]); } },
    user("b", codes.code[j]), codes.name[j] === codes.code[j] ? null : user("span", codes.name[j]), el("span", { class: "end" }, wholePercent(baseOf(j))))));
}

function moveOption(step) {
  const options = $$("#code-options li");
  if (!options.length) return;
  option = (option + step + options.length + (option < 0 && step < 0 ? 1 : 0)) % options.length;
  options.forEach((entry, at) => entry.setAttribute("aria-selected", String(at === option)));
  options[option].scrollIntoView({ block: "nearest" });
  $("#code-query").setAttribute("aria-activedescendant", options[option].id);
}

function drawAssigned() {
  $("#clear-codes").hidden = !chosenCodes.length;
  $("#chosen-codes").replaceChildren(...chosenCodes.map((j) => el("li", {}, user("b", codes.code[j]), codes.name[j] === codes.code[j] ? null : user("span", codes.name[j]),
    el("button", { type: "button", "aria-label": `Remove ${codes.code[j]} ${codes.name[j]}`, onclick: () => { chosenCodes.splice(chosenCodes.indexOf(j), 1); drawAssigned(); $("#code-query").focus(); } }, "×"))));
  const panel = $("#assigned");
  if (!chosenCodes.length) { panel.replaceChildren(); return; }
  const { logs, leaf } = assign(chosenCodes);
  const node = groupNode(leaf);
  const order = everyone.map((other) => [Math.exp(logs[other]), other]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const open = (other) => { showView("explore"); choose(other.id, { reveal: true }); topic.focus({ preventScroll: true }); };
  const probability = ([p, other]) => {
    const group = groupNode(other);
    return el("li", { style: color(group), "data-leaf": other, "data-p": p },
      el("button", { type: "button", onclick: () => open(group) }, el("span", { class: "number" }, `${other} `), user("span", group.name)),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${100 * p}%` } })),
      el("span", { class: "value" }, p > 0.999 && p < 1 ? "> 99.9%" : percent(p)));
  };
  panel.replaceChildren(
    el("div", { class: "assigned-group", style: color(node) }, el("h3", {}, "Assigned group"), el("p", { class: "answer", id: "answer", "data-leaf": leaf }, el("span", { class: "number" }, `${leaf} `), user("b", node.name)),
      el("p", { class: "note" }, `Probability ${percent(Math.exp(logs[leaf]))}${hides ? " (by rounded rules)" : ""}; ${percent(node.share)} of all records belong to it.`),
      chosenCodes.length < data.few_codes ? el("p", { class: "note few" }, `Three quarters of the records have at least ${plural(data.few_codes, "code")}. A record with fewer is assigned largely by the codes it lacks, so look at the other probabilities too.`) : null),
    el("section", {}, el("h3", {}, "Probability of each group"), el("ul", { class: "share-list", id: "probabilities" }, ...order.map(probability))),
    drawReasons(leaf),
  );
}

function drawReasons(leaf) {
  if (data.n_leaves === 1) return null;
  const all = logOdds(chosenCodes, leaf);
  const clipped = (value) => Math.min(50, Math.max(-50, value));
  const found = chosenCodes.map((j) => ({ j, weight: clipped(all) - clipped(logOdds(chosenCodes.filter((other) => other !== j), leaf)) }));
  found.sort((a, b) => b.weight - a.weight || a.j - b.j);
  const most = Math.max(0.5, ...found.map(({ weight }) => Math.abs(weight)));
  return el("section", { style: color(groupNode(leaf)) },
    el("h3", {}, "Evidence"),
    el("p", { class: "note" }, "How each code changes the odds of this group, given the other codes: bars to the right are evidence for the group, bars to the left against it."),
    el("ol", { class: "code-list reasons", id: "reasons" }, ...found.map(({ j, weight }) => el("li", { "data-code": j },
      label(j, { class: "word" }),
      el("span", { class: "forest", "aria-hidden": "true" }, el("s", { style: { left: "50%" } }), el("i", { style: weight >= 0 ? { left: "50%", width: `${(50 * weight) / most}%` } : { right: "50%", width: `${(-50 * weight) / most}%` } })),
      el("span", { class: "value" }, `odds ×${times(Math.exp(weight))}`)))));
}

function setupAssign() {
  const query = $("#code-query");
  query.addEventListener("input", showOptions);
  query.addEventListener("focus", showOptions);
  query.addEventListener("blur", () => { $("#code-options").hidden = true; query.setAttribute("aria-expanded", "false"); });
  query.addEventListener("keydown", (event) => {
    const options = $$("#code-options li");
    if (event.key === "ArrowDown") moveOption(1);
    else if (event.key === "ArrowUp") moveOption(-1);
    else if (event.key === "Enter" && option >= 0) addCodes([Number(options[option].dataset.code)]);
    else if (event.key === "Enter" && query.value.trim()) enterCodes(query.value);
    else if (event.key === "Escape") { $("#code-options").hidden = true; query.setAttribute("aria-expanded", "false"); }
    else if (event.key === "Backspace" && !query.value && chosenCodes.length) { chosenCodes.pop(); drawAssigned(); }
    else return;
    event.preventDefault();
  });
  $("#clear-codes").addEventListener("click", () => { chosenCodes.length = 0; drawAssigned(); query.focus(); });
}
