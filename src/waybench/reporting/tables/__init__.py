"""Tables of the report; `_table` is the module to read first."""

from waybench.reporting.tables._table import Note, Table, TableCell, TableColumn, TableRow, model_label, single_group

__all__ = ["Note", "Table", "TableCell", "TableColumn", "TableRow", "model_label", "single_group"]
