"""Answers that a user asks of runs, images and programs."""
