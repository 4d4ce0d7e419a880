topic.setAttribute("aria-labelledby", "topic-name");
setupViews();
setupTree();
setupMap();
setupTable();
setupProportions();
setupSearch();
listeners.push(drawTopic);
followAddress();
