"""Generators and loaders."""
