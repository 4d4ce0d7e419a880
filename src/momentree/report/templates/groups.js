// The counts of groups, with small counts suppressed (-1: small, -2: hidden to protect a small
// count). Everything that the page shows is computed from them here.
const { groups } = data;
const nameSeparator = "\u00a0· ";
const hides = data.min_cell > 1;
const SMALL = `<${data.min_cell}`;
const Z = 1.959963984540054; // of 95% intervals
const everyone = groups.estimated.map((_, leaf) => leaf);
const sizeOf = (node) => `${node.size} record${node.size === "1" ? "" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const whole = nodes[0];

// Estimate of a suppressed count: an equal part of the remainder of its total, or half of the
// threshold if the total is hidden too.
function estimate(counts, total) {
  const hidden = counts.filter((count) => count < 0).length;
  if (total === -1) return data.min_cell / 2 / Math.max(hidden, 1);
  if (total < 0) return data.min_cell / 2;
  return (total - sum(counts.filter((count) => count >= 0))) / Math.max(hidden, 1);
}

// The sum of all hidden sizes is known: the total minus the sizes shown.
function unsureSize(leaves) {
  const hidden = leaves.filter((leaf) => groups.sizes[leaf] < 0).length;
  return hidden > 0 && hidden < groups.sizes.filter((size) => size < 0).length;
}

// The Wilson interval of a rate.
function wilson(ones, n) {
  if (n <= 0) return [NaN, NaN];
  const share = ones / n;
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = Math.sqrt((z2 * share * (1 - share)) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n);
  return [share === 0 ? 0 : Math.max(0, middle - half), share === 1 ? 1 : Math.min(1, middle + half)];
}

function wholePercent(share) {
  const value = 100 * share;
  if (!Number.isFinite(value)) return "–";
  return value > 0 && value < 0.5 ? "< 1%" : `${Math.round(value)}%`;
}

const approximately = (text, estimated) => (estimated && hides ? `≈ ${text}` : text);
