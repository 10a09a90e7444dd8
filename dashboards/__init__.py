"""Figures, the HTML report and the terminal table, from stored run folders alone."""
