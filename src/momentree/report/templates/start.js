topic.setAttribute("aria-labelledby", "topic-name");
setupViews();
setupTree();
setupMap();
setupTable();
setupShares();
setupSearch();
listeners.push(drawTopic);
followAddress();
