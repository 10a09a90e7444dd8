"""The page itself: templates, style, script, and the data embedded for them."""
