"""The firmware, its boards, and how it is built."""
