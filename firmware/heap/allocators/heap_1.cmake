tailscope_shipped_heap(heap_1.c)
