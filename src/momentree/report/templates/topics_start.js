topic.setAttribute("aria-labelledby", "topic-name");
setupViews();
setupTree();
setupMap();
setupTable();
setupProportions();
setupSearch();
setupDocumentMap();
listeners.push(drawTopic);
setupRename();
setupExport();
followAddress();
setTimeout(readDocuments); // after the page has been drawn
