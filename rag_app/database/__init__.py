"""How rows are reached."""
