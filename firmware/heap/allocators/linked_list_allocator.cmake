include("${CMAKE_CURRENT_LIST_DIR}/../rust/rust.cmake")
tailscope_rust_heap(linked_list_allocator)
