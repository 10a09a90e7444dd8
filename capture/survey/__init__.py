"""What is plugged in, as the real tools tell it, and what of it the bench would use."""
