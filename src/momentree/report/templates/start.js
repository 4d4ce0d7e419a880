function nodeOfAddress() {
  const match = /^#node-(\d+)$/.exec(window.location.hash);
  return match && Number(match[1]) < nodes.length ? Number(match[1]) : null;
}

topic.setAttribute("aria-labelledby", "topic-name");
setupViews();
setupTree();
setupMap();
setupTable();
setupShares();
setupSearch();
listeners.push(drawTopic);
window.addEventListener("hashchange", () => {
  const id = nodeOfAddress();
  if (id !== null && id !== state.node) {
    showView("explore");
    choose(id, { remember: false });
  }
});
choose(nodeOfAddress() ?? 0, { remember: false, reveal: nodeOfAddress() !== null });
