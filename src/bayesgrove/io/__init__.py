"""Readers of tables, blocks of rows and model files; atomic writers."""
