"""Training: the loop, losses, scalers, metrics, checkpoints, run folders."""
