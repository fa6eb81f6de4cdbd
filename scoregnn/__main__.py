"""`python -m scoregnn` is the program `scoregnn`."""

from scoregnn.cli.main import main

if __name__ == "__main__":
    main()
