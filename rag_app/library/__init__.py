"""What the person keeps; the public face of the tables."""
