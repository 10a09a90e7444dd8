"""Is a stored run as good as its baseline? The baseline is a text file beside the sources."""
