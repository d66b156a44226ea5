"""Language models, seen through three verbs."""
