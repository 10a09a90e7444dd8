"""The page: templates, style, script, and the data that they place."""
