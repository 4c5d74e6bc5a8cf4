"""Tables of the report; `_table` is the module to read first."""

from waybench.reporting.tables._table import Cell, Note, Table, TableColumn, TableRow, name_of, rows_of

__all__ = ["Cell", "Note", "Table", "TableColumn", "TableRow", "name_of", "rows_of"]
