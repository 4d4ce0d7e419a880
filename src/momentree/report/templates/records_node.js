// The selected group: numbers, codes with the slider, frequencies, relative risks and outcomes.
const topic = $("#topic");
const FEW_RISKS = 12;
const FEW_LOW_RISKS = 6;

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

function drawGroupSplits(node) {
  const words = (child) => child.top.slice(0, 6).map((j) => `${codes.name[j]} ${wholePercent(rateOf(child, j).rate)}`).join("; ");
  return drawSplits(node, "Groups", (child) => `${child.size} · ${percent(child.share)}`, words);
}
