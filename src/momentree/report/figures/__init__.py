"""Draw figures of trees, topics and groups of records with matplotlib."""
