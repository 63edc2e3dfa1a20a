"""Log-space helpers, draws, partitions and distributions over partitions."""
