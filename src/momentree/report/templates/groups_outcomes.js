// Outcomes by group, as bars and as a table, and the numbers behind them.
// A rate as a bar, its interval as a thin line, and the rate in all records as a tick.
function bar(found, base, scale) {
  const at = (share) => `${(100 * Math.min(share, scale)) / scale}%`;
  return el("span", { class: "bar", "aria-hidden": "true" },
    el("i", { style: { width: found.hidden ? 0 : at(found.rate) } }),
    found.hidden ? null : el("u", { style: { left: at(found.low), width: `${(100 * (Math.min(found.high, scale) - found.low)) / scale}%` } }),
    base === null ? null : el("b", { style: { left: at(base) } }),
  );
}

function rateText(found) {
  return found.hidden ? (found.kept ? "hidden" : SMALL) : approximately(wholePercent(found.rate), found.estimated);
}

function rateTitle(found) {
  const n = integer(Math.round(found.known));
  if (found.hidden) return found.kept ? `hidden: a count below ${data.min_cell} could be derived from it` : `${SMALL} of ${n} records`;
  const mark = found.estimated ? "about " : "";
  return `${mark}${integer(Math.round(found.ones))} of ${n} records: ${percent(found.rate)} (${percent(found.low)} to ${percent(found.high)})`;
}

// Estimate of a count hidden to protect a small one: an equal part of the group minus the shown
// counts. "Yes" is hidden if "no", which is not stored, is small.
function hiddenCount(outcome, leaf) {
  const row = [...outcome.classes.map((entry) => entry.counts[leaf]), outcome.missing[leaf]];
  const left = groups.estimated[leaf] - sum(row.filter((count) => count >= 0));
  const small = row.filter((count) => count === -1).length + (outcome.binary && row[0] === -2 ? 1 : 0);
  return Math.max(0, left - (small * data.min_cell) / 2) / Math.max(row.filter((count) => count === -2).length, 1);
}

// The records of a group in a class of an outcome.
function classCount(outcome, at, leaf) {
  const { counts, total } = outcome.classes[at];
  if (counts[leaf] >= 0) return counts[leaf];
  return counts[leaf] === -1 ? estimate(counts, total) : hiddenCount(outcome, leaf);
}

// The rate of a class in a node, in the form of `rateOf`.
function classRate(node, outcome, at) {
  const { counts, total } = outcome.classes[at];
  const { missing } = outcome;
  const unknown = (leaf) => (missing[leaf] === -2 ? hiddenCount(outcome, leaf) : missing[leaf] < 0 ? data.min_cell / 2 : missing[leaf]);
  const lacking = sum(node.leaves.map(unknown));
  const known = Math.max(sum(node.leaves.map((leaf) => groups.estimated[leaf])) - lacking, 0);
  const ones = Math.min(sum(node.leaves.map((leaf) => classCount(outcome, at, leaf))), known);
  const alone = node.leaves.length === 1 ? counts[node.leaves[0]] : 0;
  const kept = outcome.binary && alone === -2;
  const hidden = alone === -1 || kept;
  const unsure = node.leaves.filter((leaf) => counts[leaf] < 0).length;
  const summed = outcome.binary && total >= 0 && unsure === counts.filter((count) => count < 0).length;
  const estimated = (unsure > 0 && !summed) || node.leaves.some((leaf) => missing[leaf] < 0) || unsureSize(node.leaves);
  const [low, high] = wilson(ones, known);
  return { ones, known, estimated, hidden, kept, rate: known > 0 ? ones / known : 0, low, high };
}

function drawOutcomes(node) {
  if (!data.outcomes.length) return null;
  const row = (outcome, at, name, scale) => {
    const found = classRate(node, outcome, at);
    const all = classRate(whole, outcome, at);
    const text = rateText(found);
    const range = found.hidden ? "" : ` ${wholePercent(found.low).replace("%", "")} – ${wholePercent(found.high)}`;
    const compared = isRoot(node) ? "" : `; ${wholePercent(all.rate)} of all records`;
    return el("li", { title: rateTitle(found) + compared },
      user("span", name, { class: "word", title: name }), bar(found, isRoot(node) ? null : all.rate, scale),
      el("span", { class: "value" }, text, el("small", {}, range)),
    );
  };
  const scale = (outcome) => Math.max(0.02, ...nodes.flatMap((other) => outcome.classes.map((_, at) => classRate(other, outcome, at)).map((found) => (found.hidden ? 0 : found.rate)))) * 1.04;
  const binary = data.outcomes.filter((outcome) => outcome.binary);
  const others = data.outcomes.filter((outcome) => !outcome.binary);
  const common = Math.max(0.02, ...binary.map(scale));
  return el("section", { class: isRoot(node) ? "root" : null, "aria-labelledby": "outcomes-title" },
    el("h3", { id: "outcomes-title" }, data.outcomes.some((outcome) => outcome.covariate) ? "Outcomes and covariates" : "Outcomes"),
    el("p", { class: "note" }, isRoot(node) ? "The share of records with each value, with 95% intervals." : "The share of the group's records with each value, with 95% intervals; the tick is the share of all records. These columns were not used to form the groups."),
    binary.length ? el("ol", { class: "code-list outcomes" }, ...binary.map((outcome) => row(outcome, 0, outcome.name, common))) : null,
    ...others.map((outcome) => el("div", { class: "outcome" }, user("h4", outcome.name),
      el("ol", { class: "code-list outcomes" }, ...outcome.classes.map((entry, at) => row(outcome, at, entry.name, scale(outcome)))))),
  );
}

// The outcomes by group: one row per class, one column per group.
function drawOutcomeTable() {
  const table = $("#outcome-table");
  if (!table) return;
  const columns = [whole, ...leafNodes];
  const row = (outcome, at, name, most, within) => el("tr", { class: within ? "within" : null },
    el("th", { scope: "row", dir: "auto" }, name),
    ...columns.map((node, column) => {
      const found = classRate(node, outcome, at);
      const range = found.hidden || !found.known ? null : el("small", {}, `${wholePercent(found.low).replace("%", "")} – ${wholePercent(found.high)}`);
      return el("td", { class: column ? null : "whole", title: rateTitle(found), style: { "--v": found.hidden ? 0 : Math.round((80 * found.rate) / most), ...color(node) } }, found.hidden || !found.known ? rateText(found) : approximately(percent(found.rate), found.estimated), range);
    }));
  const most = (outcome) => Math.max(0.01, ...columns.flatMap((node) => outcome.classes.map((_, at) => classRate(node, outcome, at)).map((found) => (found.hidden ? 0 : found.rate))));
  const body = data.outcomes.flatMap((outcome) => (outcome.binary
    ? [row(outcome, 0, outcome.name, most(outcome), false)]
    : [el("tr", { class: "of" }, el("th", { scope: "rowgroup", dir: "auto", colspan: columns.length + 1 }, outcome.name)), ...outcome.classes.map((entry, at) => row(outcome, at, entry.name, most(outcome), true))]));
  table.replaceChildren(
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Outcome"), el("th", { scope: "col" }, "All"), ...leafNodes.map((node) => el("th", { scope: "col", title: node.name, "data-titled": node.id, "data-csv": numbered(node) }, String(node.leaf))))),
    el("tbody", {}, ...body),
  );
}

// Additional values by which the table can be sorted.
function prepareTable() {
  const binary = data.outcomes.filter((outcome) => outcome.binary);
  for (const node of nodes) {
    node.share_low = node.share_interval?.[0] ?? null;
    node.recurrence = node.leaf === null ? null : data.quality.recurrence?.[node.leaf] ?? null;
    binary.forEach((outcome, at) => { node[`outcome-${at}`] = classRate(node, outcome, 0).rate; });
  }
}
