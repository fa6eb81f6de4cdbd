"""Tables, columnar stores of molecular graphs, grouped splits, conversion to and from PyG."""
