"""What models produce: results and, for samplers, chains."""
