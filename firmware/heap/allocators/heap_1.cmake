include("${CMAKE_CURRENT_LIST_DIR}/freertos/shipped.cmake")
tailscope_shipped_heap(heap_1.c)
