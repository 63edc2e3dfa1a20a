"""Readers of tables and model files."""
