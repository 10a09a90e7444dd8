"""Run folders as this room sees them: loaded, named, given their looks; what each says of its numbers."""
