tailscope_rust_heap(rlsf)
