"""Log-space helpers, draws, partitions and laws over partitions."""
