"""Classes as mixtures of their documents: the Tied Document Mixture and its relatives (paper 000)."""
