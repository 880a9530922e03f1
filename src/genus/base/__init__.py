"""What every model stands on: rows, labels, statistics, smoothing, and the way from likelihoods to answers."""
