// The table of codes and groups, sortable by any column and filtered by words.
const FIRST_ROWS = 60;
const codeState = { key: "all", ascending: false, shown: FIRST_ROWS, drawn: false };
const haystacks = codes.code.map((code, j) => comparable(`${code} ${codes.name[j]}`));

function codeValue(j, key) {
  if (key === "code") return codes.code[j];
  if (key === "name") return codes.name[j];
  return rateOf(key === "all" ? whole : leafNode(Number(key)), j).rate;
}

function sortedCodes() {
  const parts = comparable($("#code-filter").value).split(/\s+/).filter(Boolean);
  const found = allCodes.filter((j) => parts.every((part) => haystacks[j].includes(part)));
  const sign = codeState.ascending ? 1 : -1;
  const values = new Map(found.map((j) => [j, codeValue(j, codeState.key)]));
  return found.sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    return sign * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y) || a - b;
  });
}

function codeCell(node, j) {
  const found = rateOf(node, j);
  const text = found.hidden ? SMALL : `${found.estimated && hides && found.rate > 0 ? "≈" : ""}${found.ones > 0 && found.rate < 0.005 ? "<1" : Math.round(100 * found.rate)}`;
  return el("td", { title: rateTitle(found), style: { "--v": found.hidden ? 0 : Math.round(100 * found.rate), ...color(node) } }, text);
}

function drawCodes() {
  codeState.drawn = true;
  const list = sortedCodes();
  const head = (key, text, title = null) => el("th", { scope: "col", title, "data-csv": key === "all" || title ? `${title ?? "All records"} (%)` : null, "aria-sort": codeState.key === key ? (codeState.ascending ? "ascending" : "descending") : null, class: key === "code" || key === "name" ? null : "number" },
    el("button", { type: "button", "data-key": key, onclick: () => {
      codeState.ascending = codeState.key === key ? !codeState.ascending : key === "code" || key === "name";
      codeState.key = key;
      drawCodes();
      $(`#code-table [data-key="${key}"]`).focus();
    } }, text));
  $("#code-table").replaceChildren(
    el("thead", {}, el("tr", {}, head("code", "Code"), head("name", "Name"), head("all", "All"), ...leafNodes.map((node) => head(String(node.leaf), String(node.leaf), `${node.leaf} ${node.name}`)))),
    el("tbody", {}, ...list.slice(0, codeState.shown).map((j) => el("tr", {},
      user("td", codes.code[j], { class: "label" }), el("th", { scope: "row", dir: "auto" }, codes.name[j]),
      codeCell(whole, j), ...leafNodes.map((node) => codeCell(node, j))))),
  );
  const more = list.length - codeState.shown;
  const button = $("#more-codes");
  button.hidden = more <= 0;
  button.textContent = `Show ${integer(more)} more`;
  $("#status").textContent = plural(list.length, "code");
}

function setupCodes() {
  // The table is large, so it is drawn when it first comes into view.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    drawCodes();
  }).observe($("#codes"));
  $("#code-filter").addEventListener("input", drawCodes);
  $("#more-codes").addEventListener("click", () => { codeState.shown = codes.code.length; drawCodes(); });
}
