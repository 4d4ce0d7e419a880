"""Assignment: the group of a sample, by posteriors of a mixture or rules of a tree; edits."""
