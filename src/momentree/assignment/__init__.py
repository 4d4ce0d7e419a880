"""Assignment: which group a sample belongs to, by posteriors of a mixture or rules of a tree."""
