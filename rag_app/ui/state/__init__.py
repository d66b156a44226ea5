"""What can happen on the pages, and the values they show."""
