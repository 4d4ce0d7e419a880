"""Tables: files of rows and columns, read as columns of strings for texts and for records."""
