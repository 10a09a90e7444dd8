"""The pages of report and app, before anything draws them."""
