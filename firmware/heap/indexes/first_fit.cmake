tailscope_header_knob()
