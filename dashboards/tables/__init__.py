"""The tables and the fine print of the report."""
