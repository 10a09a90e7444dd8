tailscope_shipped_heap(heap_4.c)
target_sources(
    tailscope_heap PRIVATE "${CMAKE_CURRENT_LIST_DIR}/freertos/shipped.c"
                           "${CMAKE_CURRENT_LIST_DIR}/freertos/start.c"
)
