"""Tables: read files of rows and columns as columns of strings."""
