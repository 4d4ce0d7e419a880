// The selected group: numbers, how it differs from all other records, outcomes and parts.
const topic = $("#topic");
const { features } = data;
const FEW_PARTS = 3;

// A name for a node without one.
const unnamed = (node) => node.automatic_parts.join(nameSeparator);

function drawGroup(node) {
  topic.style.setProperty("--h", node.cell.hue);
  const more = [drawOutcomes(node), drawGroupSplits(node)].filter(Boolean);
  topic.replaceChildren(...[
    drawTrail(node, (other) => other.name_parts[0]),
    drawTitle(node),
    drawNumbers(node),
    el("div", { class: "parts" }, isRoot(node) || data.n_leaves === 1 ? drawSeparation() : drawDifferences(node), ...more.map((part) => el("div", {}, part))),
    backLink("groups"),
  ]);
}

function drawNumbers(node) {
  const interval = node.share_interval;
  return el("dl", { class: "numbers" },
    fact("Records", node.size),
    isRoot(node) ? null : fact("Share", percent(node.share), interval ? `${percent(interval[0])} to ${percent(interval[1])}` : "", "With its 95% interval"),
    node.children.length ? fact(flat ? "Groups" : "Groups below", integer(node.leaves.length)) : null,
  );
}

const digitsOf = (feature) => feature.numbers?.all?.digits ?? feature.numbers?.groups.find(Boolean)?.digits ?? 2;
const isShare = (entry) => features[entry.feature].numbers === null;

// A mean with the decimals of its feature, or a share.
function valueText(entry, value) {
  if (value === null) return "–";
  if (isShare(entry)) return wholePercent(value);
  const digits = digitsOf(features[entry.feature]);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function featureName(entry) {
  const feature = features[entry.feature];
  if (feature.numbers) return feature.name;
  if (feature.binary) return `${feature.name}: ${feature.words[1]}`;
  return `${feature.name}: ${feature.classes[entry.class].name}`;
}

function differenceTitle(entry) {
  const { unit } = features[entry.feature];
  const what = isShare(entry) ? "share" : "mean";
  const of = (value) => approximately(valueText(entry, value), entry.estimated) + (unit && !isShare(entry) ? ` ${unit}` : "");
  return `${featureName(entry)}: ${what} ${of(entry.here)} (${valueText(entry, entry.here_low)} to ${valueText(entry, entry.here_high)}); ${of(entry.rest)} in all other records. Standardized difference ${entry.d.toFixed(2)} (${entry.low.toFixed(2)} to ${entry.high.toFixed(2)})`;
}

// Standardized differences with their intervals, around a line at 0.
function drawDifferences(node) {
  const rows = node.differences;
  const most = Math.min(Math.max(1, ...rows.map((entry) => Math.abs(entry.d) + 0.1)), 12);
  const at = (value) => `${50 + 50 * Math.max(-1, Math.min(1, value / most))}%`;
  const row = (entry) => el("li", { title: differenceTitle(entry) },
    user("span", featureName(entry), { class: "word" }),
    el("span", { class: "forest", "aria-hidden": "true" },
      el("s", { style: { left: "50%" } }),
      el("u", { style: { left: at(entry.low), right: `calc(100% - ${at(entry.high)})` } }),
      el("b", { style: { left: at(entry.d) } })),
    el("span", { class: "value" }, approximately(valueText(entry, entry.here), entry.estimated), el("small", {}, ` ${valueText(entry, entry.rest)}`, el("span", { class: "hidden" }, " in all other records"))),
  );
  return el("section", { class: "wide", "aria-labelledby": "differences-title" },
    el("h3", { id: "differences-title" }, "What sets this group apart"),
    el("p", { class: "note" }, "The point shows how far the records of this group differ from all others, in standard deviations, with a 95% interval: right of the line, their values are higher. On the right are the mean (or the share of records) in this group and, smaller, in all other records."),
    rows.length ? el("ol", { class: "code-list differences", id: "differences" }, ...rows.map(row)) : el("p", { class: "note" }, "No difference can be shown."),
  );
}

// The features that separate the groups best.
function drawSeparation() {
  const list = data.order.filter((j) => features[j].separation > 0).slice(0, data.n_shown);
  const most = Math.max(0.02, ...list.map((j) => features[j].separation));
  return el("section", { class: "wide root", "aria-labelledby": "separation-title" },
    el("h3", { id: "separation-title" }, "What separates the groups"),
    el("p", { class: "note" }, "The share of the differences between records that the groups explain: 100% if the records of each group are all alike, 0% if the groups do not differ."),
    list.length ? el("ol", { class: "code-list", id: "separation" }, ...list.map((j) => el("li", {},
      user("span", features[j].name, { class: "word", title: features[j].name }),
      el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${(100 * features[j].separation) / most}%` } })),
      el("span", { class: "value" }, wholePercent(features[j].separation)),
    ))) : el("p", { class: "note" }, "There is only one group."),
  );
}

function drawGroupSplits(node) {
  const words = (child) => child.differences.slice(0, FEW_PARTS).map((entry) => `${featureName(entry)} ${valueText(entry, entry.here)}`).join("; ");
  return drawSplits(node, "Groups", (child) => `${child.size} · ${percent(child.share)}`, words);
}
