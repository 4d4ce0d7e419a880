// The rates of codes in groups.
const { codes } = data;
// A name for a node without one.
const unnamed = (node) => node.top.slice(0, 3).map((j) => codes.short[j]).join(nameSeparator);

function measured(table, totals, leaves, j) {
  const column = table.map((row) => row[j]);
  const value = estimate(column, totals[j]);
  const hidden = leaves.filter((leaf) => column[leaf] < 0).length;
  // If all hidden counts are in these groups, their sum is known: the remainder of the total.
  const whole = totals[j] >= 0 && hidden === column.filter((count) => count < 0).length;
  return { sum: sum(leaves.map((leaf) => (column[leaf] < 0 ? value : column[leaf]))), hidden, estimated: hidden > 0 && !whole };
}

// The records of some groups that have a code, and those in which it is known.
function counted(leaves, j) {
  const ones = measured(groups.counts, codes.total, leaves, j);
  const unknown = groups.missing ? measured(groups.missing.counts, groups.missing.totals, leaves, j) : { sum: 0, hidden: 0, estimated: false };
  const known = Math.max(sum(leaves.map((leaf) => groups.estimated[leaf])) - unknown.sum, 0);
  const estimated = ones.estimated || unknown.estimated || unsureSize(leaves);
  return { ones: Math.min(ones.sum, known), known, estimated, hidden: leaves.length === 1 && ones.hidden === 1 };
}

// The ratio of two rates with its Katz interval; adds half a record to each cell if one is zero.
function ratio(a, n, b, m) {
  if (n <= 0 || m <= 0 || (a <= 0 && b <= 0)) return null;
  const half = a === 0 || a === n || b === 0 || b === m ? 0.5 : 0;
  const [a2, n2, b2, m2] = [a + half, n + 2 * half, b + half, m + 2 * half];
  const middle = Math.log(a2 / n2) - Math.log(b2 / m2);
  const error = Z * Math.sqrt(Math.max(1 / a2 - 1 / n2 + 1 / b2 - 1 / m2, 0));
  const value = a / n / (b / m);
  return { value, low: Math.min(Math.exp(middle - error), value), high: Math.max(Math.exp(middle + error), value) };
}

const rates = new Map();

// The rate of a code in a node, its interval, and whether it is hidden or estimated.
function rateOf(node, j) {
  const key = node.id * codes.code.length + j;
  if (!rates.has(key)) {
    const { ones, known, estimated, hidden } = counted(node.leaves, j);
    const [low, high] = wilson(ones, known);
    rates.set(key, { ones, known, estimated, hidden, rate: known > 0 ? ones / known : 0, low, high });
  }
  return rates.get(key);
}

const baseOf = (j) => rateOf(nodes[0], j).rate;

// The relative risk of a code in a node against all other records; null if it is hidden.
function riskOf(node, j) {
  const inside = rateOf(node, j);
  const outside = counted(everyone.filter((leaf) => !node.leaves.includes(leaf)), j);
  if (inside.hidden) return null;
  const found = ratio(inside.ones, inside.known, outside.ones, outside.known);
  return found && { ...found, estimated: inside.estimated || outside.estimated };
}

// Whether the shown counts of a code in a node outweigh the estimated ones.
function isDisclosed(node, j) {
  const column = groups.counts.map((row) => row[j]);
  const shown = sum(node.leaves.map((leaf) => Math.max(column[leaf], 0)));
  const hidden = node.leaves.filter((leaf) => column[leaf] < 0).length;
  return shown > 0 && shown > hidden * estimate(column, codes.total[j]);
}

const allCodes = codes.code.map((_, j) => j);

// The most relevant codes of a node: λ·log p(code|node) + (1 − λ)·log(p(code|node) / p(code)).
// A code that is less common here than in all records is not distinctive.
function relevantCodes(node, lambda, limit) {
  const scored = allCodes.filter((j) => isDisclosed(node, j)).map((j) => {
    const p = rateOf(node, j).rate;
    const base = baseOf(j);
    return { j, p, base, score: Math.round((Math.log(p) - (1 - lambda) * Math.log(base)) * 1e9) };
  });
  const more = scored.filter(({ p, base }) => p >= base);
  const kept = more.length ? more : scored;
  kept.sort((a, b) => b.score - a.score || b.p - a.p || a.base - b.base || a.j - b.j);
  return kept.slice(0, limit).map(({ j }) => j);
}

function times(value) {
  if (value === Infinity) return "∞";
  if (value >= 99.5) return integer(Math.round(value));
  return value >= 9.95 || value === 0 ? value.toFixed(0) : value >= 0.995 ? value.toFixed(1) : value.toFixed(2);
}

// The short name of a code, with the code and its whole name in the tooltip.
const label = (j, attributes = {}) => user("span", codes.short[j], { title: codes.name[j] === codes.code[j] ? codes.code[j] : `${codes.code[j]} ${codes.name[j]}`, ...attributes });
