"""What every room stands on; it imports none of them."""
