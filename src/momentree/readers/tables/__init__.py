"""Tables: files of rows and columns, whatever they hold."""
