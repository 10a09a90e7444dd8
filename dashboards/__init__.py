"""Dashboards: figures, the HTML report and the terminal table, drawn from stored run folders alone."""
