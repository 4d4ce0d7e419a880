// The rule that assigns a record of which codes may have been left out: the same numbers and
// formula as in Python (IncompleteAssigner), so that page and command agree.
const CERTAIN = 1e-9;
const ENOUGH = 5; // a code in fewer records of a group is not enough to name it

const total = (values) => values.reduce((value, next) => value + next, 0);

function logSum(values) {
  const top = Math.max(...values);
  return top === -Infinity ? top : top + Math.log(total(values.map((value) => Math.exp(value - top))));
}

// Tables of a rule: the frequency of each code in each group, and the score of no codes by rate.
function prepare({ rates, sizes, counts, observed }) {
  const known = (leaf, j) => (observed ? observed[leaf][j] : sizes[leaf]);
  const codesOf = counts[0].map((_, j) => j);
  const leaves = sizes.map((_, leaf) => leaf);
  const mean = codesOf.map((j) => total(counts.map((row) => row[j])) / Math.max(total(leaves.map((leaf) => known(leaf, j))), Number.MIN_VALUE));
  const frequency = leaves.map((leaf) => codesOf.map((j) => Math.min(Math.max((counts[leaf][j] + mean[j]) / (known(leaf, j) + 1), CERTAIN), 1 - CERTAIN)));
  const base = rates.map((rate) => leaves.map((leaf) => Math.log(sizes[leaf]) + total(frequency[leaf].map((mu) => Math.log1p(-rate * mu)))));
  const somewhere = codesOf.map((j) => counts.some((row) => row[j] > 0));
  return { rates, counts, leaves, frequency, base, somewhere };
}

// `logs`: log P[group | codes]; `leading`: the most probable group; `leaf`: the group that is
// named, or -1 for the reason `why`.
function assignBy({ rates, counts, leaves, frequency, base, somewhere }, indices) {
  const scores = leaves.map((leaf) => logSum(rates.map((rate, at) => base[at][leaf] + total(indices.map((j) => {
    const p = rate * frequency[leaf][j];
    return Math.log(p) - Math.log1p(-p);
  })))));
  const all = logSum(scores);
  const logs = scores.map((value) => value - all);
  const leading = logs.indexOf(Math.max(...logs));
  const lacking = indices.filter((j) => counts[leading][j] === 0 && somewhere[j]);
  let why = "";
  if (Math.exp(logs[leading]) <= 0.5 + 1e-9) why = "probability";
  else if (lacking.length) why = "different";
  else if (!indices.some((j) => counts[leading][j] >= ENOUGH)) why = "rare";
  return { logs, leading, lacking, why, leaf: why ? -1 : leading };
}
