tailscope_knob(SEARCH_THRESHOLD 0 "blocks looked at in a request's own bin; 0 = off, all of them")
