# tailscope_shipped_heap(<file>): a heap of the FreeRTOS kernel, from the same sources as the
# kernel.

# Where the sources mention configTOTAL_HEAP_SIZE, the first so many times it must be a constant.
set(TAILSCOPE_CONSTANT_MENTIONS 1)

function(tailscope_shipped_heap file)
    if(NOT TARGET freertos_kernel)
        tailscope_crate_folder(crate "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../kernel/package" freertos-next)
        set(kernel "${crate}/FreeRTOS-Kernel")
    endif()
    tailscope_heap_of_the_kernel("${kernel}/portable/MemMang/${file}")
endfunction()

# tailscope_heap_of_the_kernel(<file> [INCLUDES <folder>...] [DEFINITIONS <macro>...]): a file that
# is written as the kernel's heaps are.
function(tailscope_heap_of_the_kernel file)
    cmake_parse_arguments(PARSE_ARGV 1 more "" "" "INCLUDES;DEFINITIONS")
    set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    if(TARGET freertos_kernel)
        set(includes "${here}" $<TARGET_PROPERTY:freertos_kernel,INTERFACE_INCLUDE_DIRECTORIES>)
    else()
        set(includes "${here}/../../tests/freertos")
    endif()
    # The facade has the kernel's names, and its region is the heap's array.
    foreach(name IN ITEMS pvPortMalloc vPortFree pvPortCalloc xPortGetFreeHeapSize xPortGetMinimumEverFreeHeapSize
                          xPortResetHeapMinimumEverFreeHeapSize vPortInitialiseBlocks vPortGetHeapStats
                          vPortHeapResetState vPortDefineHeapRegions)
        list(APPEND names ${name}=shipped_${name})
    endforeach()
    if(TAILSCOPE_REGION_OF_ANY_SIZE)
        set(any_size TAILSCOPE_REGION_OF_ANY_SIZE "TAILSCOPE_CONSTANT_MENTIONS=${TAILSCOPE_CONSTANT_MENTIONS}")
    endif()
    tailscope_foreign(
        SOURCES "${file}"
        INCLUDES ${includes} ${more_INCLUDES}
        DEFINITIONS ${names} ucHeap=heap_region TAILSCOPE_HEAP_BYTES=${TAILSCOPE_HEAP_BYTES} ${any_size} ${more_DEFINITIONS}
    )
endfunction()
