"""Programs that settle questions with numbers: run from an installed package, results under `studies/results/`."""
