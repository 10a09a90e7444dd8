"""The rows of the report's tables, and its fine print, as plain text."""
