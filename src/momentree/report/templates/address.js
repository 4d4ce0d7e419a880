// The address of the page identifies the selected node.
function nodeOfAddress() {
  const match = /^#node-(\d+)$/.exec(window.location.hash);
  return match && Number(match[1]) < nodes.length ? Number(match[1]) : null;
}

function followAddress() {
  window.addEventListener("hashchange", () => {
    const id = nodeOfAddress();
    if (id !== null && id !== state.node) {
      showView("explore");
      choose(id, { remember: false });
    }
  });
  choose(nodeOfAddress() ?? 0, { remember: false, reveal: nodeOfAddress() !== null });
}
