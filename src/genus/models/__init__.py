"""The models, one room for each family. They do not import one another."""
