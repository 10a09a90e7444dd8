# The FreeRTOS kernel: a user's own checkout through FREERTOS_KERNEL_PATH (CMake variable or
# environment), or else the one inside the crate that package/Cargo.lock pins. Defines the library
# `freertos_kernel`.

include("${CMAKE_CURRENT_LIST_DIR}/../cmake/crates.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/board.cmake")

set(FREERTOS_KERNEL_PATH "$ENV{FREERTOS_KERNEL_PATH}" CACHE PATH "FreeRTOS-Kernel checkout; empty = the pinned one")

if(FREERTOS_KERNEL_PATH)
    cmake_path(ABSOLUTE_PATH FREERTOS_KERNEL_PATH BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE kernel)
else()
    tailscope_crate_folder(crate "${CMAKE_CURRENT_LIST_DIR}/package" freertos-next)
    set(kernel "${crate}/FreeRTOS-Kernel")
endif()
foreach(file include/task.h tasks.c list.c ${core_kernel_port}/port.c)
    if(NOT EXISTS "${kernel}/${file}")
        message(FATAL_ERROR "${kernel} has no ${file}: FREERTOS_KERNEL_PATH must name a FreeRTOS-Kernel checkout.")
    endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${kernel}/include/task.h")
file(STRINGS "${kernel}/include/task.h" line REGEX "define tskKERNEL_VERSION_NUMBER")
if(NOT line MATCHES "\"(V11\\.[^\"]+)\"")
    message(FATAL_ERROR "The kernel's task.h says '${line}': Tailscope is written for V11.")
endif()
message(STATUS "FreeRTOS kernel ${CMAKE_MATCH_1}")
set(TAILSCOPE_KERNEL_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "What the firmware must say of its kernel")
tailscope_hide_folder("${kernel}" FreeRTOS-Kernel)

list(TRANSFORM core_kernel_sources PREPEND "${kernel}/${core_kernel_port}/" OUTPUT_VARIABLE port_sources)
add_library(freertos_kernel OBJECT "${kernel}/tasks.c" "${kernel}/list.c" ${port_sources})

# The calls of bench/kernel_calls.c need more of the kernel. All other builds are without it, and no
# slower.
if(TAILSCOPE_KERNEL_CALLS)
    target_sources(freertos_kernel PRIVATE "${kernel}/queue.c" "${kernel}/timers.c")
endif()
target_include_directories(freertos_kernel SYSTEM PUBLIC "${kernel}/include" "${kernel}/${core_kernel_port}")
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH firmware)
target_include_directories(freertos_kernel PUBLIC "${CMAKE_CURRENT_LIST_DIR}" "${firmware}" ${board_includes})
