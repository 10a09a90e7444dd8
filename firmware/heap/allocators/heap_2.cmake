set(TAILSCOPE_CONSTANT_MENTIONS 2) # the array's length, and a first value
tailscope_shipped_heap(heap_2.c)
target_sources(
    tailscope_heap PRIVATE "${CMAKE_CURRENT_LIST_DIR}/freertos/shipped.c"
                           "${CMAKE_CURRENT_LIST_DIR}/freertos/start.c"
)
