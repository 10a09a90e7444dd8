set(rust_std core,alloc) # a crate that talc stands on names it
tailscope_rust_heap(talc)
