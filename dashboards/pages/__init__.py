"""The pages of the report, before anything draws them."""
