tailscope_knob(TLSF_OCTAVES 14 "lists of the first level")
tailscope_knob(TLSF_SLOTS 16 "lists of the second level, a power of two")
