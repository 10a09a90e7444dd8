"""Where traces come from: programs of this machine, and boards whose firmware tells of its heap."""
