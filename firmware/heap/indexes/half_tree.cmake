tailscope_smallest_payload(16) # two links, two subtrees
tailscope_knob(SMALL_VICTIM_BYTES 150 "a designated victim below this may be replaced")
tailscope_knob(LARGE_VICTIM_BYTES 2800 "blocks from this on are no designated victims")
tailscope_header_knob()
