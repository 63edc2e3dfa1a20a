"""Many views of one table: groups of columns, each with its own clustering of the rows."""
