"""A question goes through."""
