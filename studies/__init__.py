"""Results made with the bench; no part of it stands on them."""
