// The data of topics: their names and words.
const nameSeparator = ", ";
const logBase = data.words.p.map(Math.log);
// A name for a node without one.
const unnamed = (node) => node.top.slice(0, 3).map((word) => data.words.word[word]).join(nameSeparator);
const sizeOf = (node) => plural(node.n_samples, data.passages_of ? "passage" : "document");

// The most relevant words of a node: λ·log p(w|node) + (1 − λ)·log(p(w|node) / p(w)). The node
// contains every word that is among the most relevant for some λ. Without λ, the words that were
// chosen for it.
function relevantWords(node, lambda, limit) {
  const { index, p } = node.words;
  if (lambda === null) {
    const at = new Map(index.map((word, i) => [word, i]));
    return node.top.slice(0, limit).map((word) => ({ word, p: p[at.get(word)], base: data.words.p[word] }));
  }
  const scored = index.map((word, i) => ({
    word,
    p: p[i],
    base: data.words.p[word],
    score: Math.round((Math.log(p[i]) - (1 - lambda) * logBase[word]) * 1e9),
  }));
  scored.sort((a, b) => b.score - a.score || b.p - a.p || a.base - b.base);
  return scored.slice(0, limit);
}
