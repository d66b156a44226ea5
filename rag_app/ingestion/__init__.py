"""A document comes in: extracted, split, embedded, stored, published."""
