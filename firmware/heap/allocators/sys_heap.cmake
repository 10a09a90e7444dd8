# Compiled from a user's own checkout. zephyr/ stands in for the rest of Zephyr; other headers are
# the checkout's. All options are at Zephyr's defaults, the three looks included. Up to 3.3 the heap
# lay in lib/os, from 3.4 on in lib/heap.
set(ZEPHYR_PATH "$ENV{ZEPHYR_PATH}" CACHE PATH "Zephyr checkout")
if(NOT ZEPHYR_PATH)
    message(FATAL_ERROR "sys_heap is compiled from a checkout of your own (Zephyr, lib/heap/heap.c): set ZEPHYR_PATH to its folder.")
endif()
cmake_path(ABSOLUTE_PATH ZEPHYR_PATH BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE zephyr)
set(heap lib/heap)
if(NOT EXISTS "${zephyr}/lib/heap/heap.c" AND EXISTS "${zephyr}/lib/os/heap.c")
    set(heap lib/os)
endif()
foreach(file IN ITEMS ${heap}/heap.c ${heap}/heap.h include/zephyr/sys/sys_heap.h)
    if(NOT EXISTS "${zephyr}/${file}")
        message(FATAL_ERROR "${zephyr} has no ${file}: ZEPHYR_PATH must name a checkout of Zephyr, 3.1 or later.")
    endif()
endforeach()
tailscope_hide_sources("${zephyr}" zephyr)
tailscope_foreign(
    SOURCES "${zephyr}/${heap}/heap.c"
    INCLUDES "${CMAKE_CURRENT_LIST_DIR}/zephyr" "${zephyr}/include" "${zephyr}"
    DEFINITIONS CONFIG_SYS_HEAP_ALLOC_LOOPS=3 "SYS_HEAP_PRIVATE=\"${heap}/heap.h\""
)
