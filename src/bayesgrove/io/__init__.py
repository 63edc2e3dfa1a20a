"""Readers of tables, trees, blocks of rows and model files; atomic writers."""
