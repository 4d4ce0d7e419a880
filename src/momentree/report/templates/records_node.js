// The selected group: numbers, codes with the slider, frequencies, relative risks and outcomes.
const topic = $("#topic");
const FEW_RISKS = 12;
const FEW_LOW_RISKS = 6;
const whole = nodes[0];

function drawGroup(node) {
  topic.style.setProperty("--h", node.cell.hue);
  const left = isRoot(node) ? el("div", {}, drawCommon(node)) : el("div", {}, drawRelevant(node), drawOutcomes(node));
  const right = isRoot(node) ? el("div", {}, drawOutcomes(node), drawGroupSplits(node)) : el("div", {}, drawCommon(node), drawGroupSplits(node));
  topic.replaceChildren(...[
    drawTrail(node, (other) => other.name_parts[0]),
    drawTitle(node),
    node.residual ? el("p", { class: "note" }, el("span", { class: "residual" }, "residual group"), " Its records have few codes, and no code occurs in half of them.") : null,
    drawNumbers(node),
    el("div", { class: "parts" }, left, right, drawRisks(node)),
    backLink("groups"),
  ].filter(Boolean));
  updateRelevant(node);
}

function drawNumbers(node) {
  const interval = node.share_interval;
  const recurrence = node.leaf === null ? null : data.quality.recurrence?.[node.leaf] ?? null;
  return el("dl", { class: "numbers" },
    fact("Records", node.size),
    isRoot(node) ? null : fact("Share", percent(node.share), interval ? `${percent(interval[0])} to ${percent(interval[1])}` : "", "With its 95% interval"),
    fact("Codes per record", node.codes_per_record.toFixed(1), isRoot(node) ? "" : `${whole.codes_per_record.toFixed(1)} in all records`),
    node.children.length ? fact(flat ? "Groups" : "Groups below", integer(node.leaves.length)) : null,
    recurrence === null ? null : fact("Found again in other samples", data.quality.recurrence_words[node.leaf], recurrence.toFixed(2), "Agreement with the most similar group in resampled records; 1 = the same group", true),
  );
}

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

function codeRow(node, j, scale) {
  const found = rateOf(node, j);
  const all = rateOf(whole, j);
  const compared = isRoot(node) ? "" : `; ${wholePercent(all.rate)} of all records`;
  return el("li", { "data-code": j, title: rateTitle(found) + compared },
    label(j, { class: "word" }), bar(found, isRoot(node) ? null : all.rate, scale),
    el("span", { class: "value" }, rateText(found), el("span", { class: "hidden" }, compared)),
  );
}

const scaleOf = (node, list) => Math.max(0.02, ...list.map((j) => Math.max(rateOf(node, j).hidden ? 0 : rateOf(node, j).rate, baseOf(j)))) * 1.04;

const legend = (node) => el("p", { class: "legend marks", "aria-hidden": "true" }, el("span", {}, isRoot(node) ? "in all records" : "in this group"), el("span", {}, "95% interval"), isRoot(node) ? null : el("span", {}, "in all records"));

function drawRelevant(node) {
  return el("section", { "aria-labelledby": "words-title" },
    el("h3", { id: "words-title" }, "Distinctive codes"),
    el("p", { class: "note" }, "The most relevant codes: common in this group, and more common than elsewhere."),
    drawSlider("common", updateRelevant),
    legend(node),
    el("ol", { class: "code-list", id: "words" }),
  );
}

function updateRelevant(node) {
  const list = $("#words");
  if (!list) return;
  showLambda();
  const best = relevantCodes(node, state.lambda, data.n_codes);
  const scale = scaleOf(node, best);
  list.replaceChildren(...best.map((j) => codeRow(node, j, scale)));
  if (!best.length) list.append(el("li", { class: "note" }, "Too few records to show any code."));
}

function drawCommon(node) {
  const list = data.common.slice(0, data.n_codes);
  const scale = Math.max(...nodes.map((other) => scaleOf(other, list)));
  return el("section", { class: isRoot(node) ? "root" : null, "aria-labelledby": "common-title" },
    el("h3", { id: "common-title" }, `The ${list.length} most common codes`),
    el("p", { class: "note" }, isRoot(node) ? "The share of all records with each code." : "The same codes in the same order for every group. The bar is the share of its records with the code, the tick the share of all records."),
    legend(node),
    el("ol", { class: "code-list", id: "common" }, ...list.map((j) => codeRow(node, j, scale))),
  );
}

function drawRisks(node) {
  if (isRoot(node) || data.n_leaves === 1) return null;
  const found = allCodes.map((j) => ({ j, risk: isDisclosed(node, j) || rateOf(node, j).ones === 0 ? riskOf(node, j) : null })).filter(({ risk }) => risk);
  const more = found.filter(({ risk }) => risk.low > 1).sort((a, b) => b.risk.low - a.risk.low || a.j - b.j).slice(0, FEW_RISKS);
  more.sort((a, b) => b.risk.value - a.risk.value || a.j - b.j);
  const less = found.filter(({ risk }) => risk.high < 1).sort((a, b) => a.risk.high - b.risk.high || a.j - b.j).slice(0, FEW_LOW_RISKS);
  less.sort((a, b) => b.risk.value - a.risk.value || a.j - b.j);
  const rows = [...more, ...less];
  const finite = rows.flatMap(({ risk }) => [risk.low, risk.high]).filter((value) => Number.isFinite(value) && value > 0);
  const top = Math.log(Math.min(Math.max(2, ...finite), 200));
  const bottom = Math.log(Math.max(Math.min(0.5, ...finite), 1 / 50));
  const at = (value) => `${100 * Math.min(1, Math.max(0, (Math.log(Math.max(value, 1e-9)) - bottom) / (top - bottom)))}%`;
  const row = ({ j, risk }) => {
    const text = approximately(`×${times(risk.value)}`, risk.estimated);
    const range = `${times(risk.low)} to ${times(risk.high)}`;
    return el("li", { "data-code": j, title: `${text} (${range}); ${rateTitle(rateOf(node, j))}` },
      label(j, { class: "word" }),
      el("span", { class: "forest", "aria-hidden": "true" },
        el("s", { style: { left: at(1) } }),
        el("u", { style: { left: at(risk.low), right: `calc(100% - ${at(Math.min(risk.high, 1e6))})` } }),
        el("b", { style: { left: at(risk.value) } })),
      el("span", { class: "value" }, text, el("small", {}, ` ${range}`)),
    );
  };
  return el("section", { class: "wide", "aria-labelledby": "risks-title" },
    el("h3", { id: "risks-title" }, "Relative risk"),
    el("p", { class: "note" }, "The frequency in this group divided by that in all other records, with 95% intervals, on a logarithmic scale; the line marks ×1, no difference. The list shows the clearest codes among those whose interval excludes ×1."),
    rows.length ? el("ol", { class: "code-list risks", id: "risks" }, ...more.map(row),
      less.length ? el("li", { class: "divide" }, "Less common here") : null, ...less.map(row)) : el("p", { class: "note" }, "No code differs clearly."),
  );
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

function drawGroupSplits(node) {
  const words = (child) => child.top.slice(0, 6).map((j) => `${codes.name[j]} ${wholePercent(rateOf(child, j).rate)}`).join("; ");
  return drawSplits(node, "Groups", (child) => `${child.size} · ${percent(child.share)}`, words);
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
