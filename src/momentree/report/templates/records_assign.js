// Assign a record: compute the probabilities of the groups from its codes.
const MOST_OPTIONS = 12;
const chosenCodes = [];
let option = -1;

let prepared = null;

function assign(indices) {
  prepared ??= prepare(data.scoring);
  return assignBy(prepared, indices);
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
  const found = assign(chosenCodes);
  const { logs } = found;
  const order = everyone.map((other) => [Math.exp(logs[other]), other]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const open = (other) => { openNode(other.id); topic.focus({ preventScroll: true }); };
  const probability = ([p, other]) => {
    const group = leafNode(other);
    return el("li", { style: color(group), "data-leaf": other, "data-p": p },
      el("button", { type: "button", onclick: () => open(group) }, drawName(group)),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${100 * p}%` } })),
      el("span", { class: "value" }, p > 0.999 && p < 1 ? "> 99.9%" : percent(p)));
  };
  panel.replaceChildren(
    drawAnswer(found),
    el("section", {}, el("h3", {}, "Probability of each group"), el("ul", { class: "share-list", id: "probabilities" }, ...order.map(probability))),
    drawReasons(found.leading),
  );
}

// The group of the record, or why none is named.
function drawAnswer({ logs, leading, lacking, why, leaf }) {
  const node = leafNode(leading);
  const p = percent(Math.exp(logs[leading]));
  const answer = (title, ...content) => el("div", { class: `assigned-group${why ? " undecided" : ""}`, style: why ? {} : color(node) },
    el("h3", {}, title), el("p", { class: "answer", id: "answer", "data-leaf": leaf, "data-why": why }, ...content.shift()), ...content.map((text) => el("p", { class: "note" }, ...text)));
  const leader = [" Most probable so far: ", drawName(leafNode(leading), "b"), `, ${p}.`];
  const incomplete = "Codes may be missing from the record, so codes that it lacks count little.";
  if (why === "probability") return answer("No group", ["Too few codes to say"], ["A group is named if it is more probable than all others together.", ...leader]);
  if (why === "different") return answer("No group", ["Codes of different groups"], [`The most probable group has no record with ${lacking.map((j) => codes.code[j]).join(", ")}.`, ...leader]);
  if (why === "rare") return answer("No group", ["Too few codes to say"], [`Fewer than ${ENOUGH} records of the most probable group have any of these codes.`, ...leader]);
  return answer("Assigned group", [drawName(leafNode(leaf), "b")], [`Probability ${p}; ${percent(node.share)} of all records belong to this group. ${incomplete}`]);
}

// The change of the odds of a group by each code, in two lists: for the group, and against it.
function drawReasons(leaf) {
  if (data.n_leaves === 1) return null;
  const all = logOdds(chosenCodes, leaf);
  const clipped = (value) => Math.min(50, Math.max(-50, value));
  const found = chosenCodes.map((j) => ({ j, weight: clipped(all) - clipped(logOdds(chosenCodes.filter((other) => other !== j), leaf)) }));
  found.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.j - b.j);
  const most = Math.max(0.5, ...found.map(({ weight }) => Math.abs(weight)));
  const node = leafNode(leaf);
  const rate = (at, j) => { const { rate: share, estimated } = rateOf(at, j); return approximately(wholePercent(share), estimated); };
  const row = ({ j, weight }) => el("li", { "data-code": j, title: `In ${rate(node, j)} of the records of this group, and in ${rate(nodes[0], j)} of all records` },
    label(j, { class: "word" }),
    el("span", { class: "forest", "aria-hidden": "true" }, el("s", { style: { left: "50%" } }), el("i", { style: weight >= 0 ? { left: "50%", width: `${(50 * weight) / most}%` } : { right: "50%", width: `${(-50 * weight) / most}%` } })),
    el("span", { class: "value" }, `odds ×${times(Math.exp(weight))}`));
  const list = (title, some) => (some.length ? [el("h4", {}, title), el("ol", { class: "code-list reasons" }, ...some.map(row))] : []);
  return el("section", { id: "reasons", style: color(node) },
    el("h3", {}, "Why ", drawName(node, "b")),
    el("p", { class: "note" }, "How many times each code multiplies the odds of this group, given the other codes."),
    ...list("Codes in favor", found.filter(({ weight }) => weight >= 0)),
    ...list("Codes against", found.filter(({ weight }) => weight < 0)));
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
