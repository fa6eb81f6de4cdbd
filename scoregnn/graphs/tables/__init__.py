"""The user's tables: CSV, SMILES files, SDF and Parquet in, checked rows with molecules and targets out."""

from scoregnn.graphs.tables.labels import LabelledTable, column_values, read_labelled
from scoregnn.graphs.tables.opening import open_table
from scoregnn.graphs.tables.table import Row, Table

__all__ = ["LabelledTable", "Row", "Table", "column_values", "open_table", "read_labelled"]
