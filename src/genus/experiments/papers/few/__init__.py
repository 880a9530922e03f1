"""A few labels of each class, or none: what knowledge of words is worth."""
