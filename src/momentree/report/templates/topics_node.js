// The selected topic: numbers, words with the slider, labels and splits.
const topic = $("#topic");

function drawTopic(node) {
  topic.style.setProperty("--h", node.cell.hue);
  const left = el("div", {}, drawWords(node), drawLabels(node));
  const right = el("div", {}, drawFound(), drawTopicSplits(node), drawDocuments(node));
  topic.replaceChildren(
    drawTrail(node),
    drawTitle(node),
    drawNumbers(node),
    ...(node.reason ? [el("p", { class: "reason" }, `Not split further: ${node.reason}`)] : []),
    el("div", { class: "parts" }, left, right),
    backLink("topics"),
  );
  updateWords(node, false);
  showMoreButtons(topic);
}

function drawNumbers(node) {
  return el("dl", { class: "numbers" },
    fact(data.passages_of ? "Passages" : "Documents", integer(node.n_samples), percent(node.share)),
    node.separation ? fact("How well the split separates", node.separation.words, `${percent(node.separation.same_side)} the same side`, "Two halves of the words place this share of the documents on the same side of the split", true) : null,
    !flat && node.children.length ? fact("Gain of the split", amount(node.gain), "nats", "Increase in log-likelihood from the split", "only") : null,
    node.children.length ? fact(flat ? "Topics" : "Topics below", integer(leavesOf(node).length)) : null,
    node.coherence && !isRoot(node) ? fact("Its words occur together", node.coherence.words, `${node.coherence.npmi.toFixed(3)} NPMI`, "How often the first ten words occur in the same documents; normalized pointwise mutual information, −1 to 1", true) : null,
    node.coherence && isRoot(node) ? fact("Coherence", node.coherence.npmi.toFixed(3), "NPMI", "Normalized pointwise mutual information of the first ten words, −1 to 1; higher is better", "only") : null,
    node.coherence ? fact("Coherence", node.coherence.umass.toFixed(1), "UMass", "UMass coherence of the first ten words; higher is better", "only") : null,
  );
}

function drawWords(node) {
  // The root has no distinctive words: there is nothing to compare it with.
  const whole = isRoot(node);
  return el("section", { class: whole ? "root whole" : null, "aria-labelledby": "words-title" },
    el("h3", { id: "words-title" }, "Most relevant words"),
    drawSlider("frequent", (chosen) => updateWords(chosen, true)),
    whole
      ? el("p", { class: "note" }, "Select a topic to use the slider: the corpus as a whole has no distinctive words.")
      : el("p", { class: "legend", "aria-hidden": "true" }, el("span", {}, "in this topic"), el("span", {}, "in all documents")),
    el("ol", { class: "words-list", id: "words" }),
  );
}

// Rows are kept by word, so that moving words are animated.
function updateWords(node, animate) {
  const list = $("#words");
  showLambda();
  const moving = animate && !calm.matches;
  const old = new Map([...list.children].map((row) => [row.dataset.word, row]));
  const before = new Map(moving ? [...old].map(([word, row]) => [word, row.offsetTop]) : []);
  const best = relevantWords(node, state.lambda, data.n_words);
  const scale = Math.max(...best.map((entry) => Math.max(entry.p, entry.base)), Number.MIN_VALUE);
  const rows = best.map((entry) => {
    const row = old.get(String(entry.word)) ?? drawWord(entry);
    const [here, all] = $$("i", row);
    here.style.width = `${(100 * entry.p) / scale}%`;
    all.style.width = `${(100 * entry.base) / scale}%`;
    return row;
  });
  list.replaceChildren(...rows);
  if (!moving) return;
  for (const row of rows) {
    const from = before.get(row.dataset.word);
    if (from === undefined) row.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 180 });
    else if (from !== row.offsetTop) {
      row.animate([{ transform: `translateY(${from - row.offsetTop}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
    }
  }
}

function drawWord({ word, p, base }) {
  const here = percent(p, 3);
  const all = percent(base, 3);
  const ratio = p / base;
  const times = ratio >= 99.5 ? integer(Math.round(ratio)) : ratio.toFixed(1);
  return el("li", { "data-word": word, title: `${here} of the words in this topic, ${all} in all documents` },
    user("span", data.words.word[word], { class: "word", title: data.words.word[word] }),
    el("span", { class: "bar", "aria-hidden": "true" }, el("i"), el("i")),
    el("span", { class: "times", "aria-hidden": "true" }, `×${times}`),
    el("span", { class: "hidden" }, `: ${here} in this topic, ${all} in all documents, ratio ${times}`),
  );
}

function drawLabels(node) {
  if (!data.labels || !node.labels.length) return null;
  const few = 8;
  const row = ([label, count]) => el("li", {},
    user("span", data.labels[label]),
    el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { width: `${(100 * count) / node.labels[0][1]}%` } })),
    el("span", { class: "value" }, `${integer(count)} · ${percent(count / node.n_samples)}`),
  );
  const list = el("ol", { class: "label-list" }, ...node.labels.slice(0, few).map(row));
  const others = node.labels.slice(few);
  const section = el("section", { "aria-labelledby": "labels-title" }, el("h3", { id: "labels-title" }, "Labels"), list);
  if (others.length) {
    section.append(el("button", { type: "button", class: "more", onclick: (event) => {
      list.append(...others.map(row));
      event.target.remove();
    } }, `${integer(others.length)} more`));
  }
  if (node.other_labels) section.append(el("p", { class: "note" }, `and ${plural(node.other_labels, "document")} with other labels`));
  return section;
}

function drawTopicSplits(node) {
  const size = (child) => `${integer(child.n_samples)} · ${percent(child.share / (node.share || 1))}`;
  return drawSplits(node, "Topics", size, (child) => child.top.slice(0, 10).map((word) => data.words.word[word]).join(", "));
}
