"""What a statement, an instance and a verdict are, and how one follows from the others."""
