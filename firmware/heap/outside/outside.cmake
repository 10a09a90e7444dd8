# The words with which the table of an allocator from outside says how it is built:
# firmware/build/outside.py writes them to <name>.cmake in TAILSCOPE_OUTSIDE, beside a copy of the file,
# TAILSCOPE_OUTSIDE_FILE.
# The link `beside` leads to the file's own folder, for what it includes from there.

# tailscope_index_finds(<definition>...): what promise.c is to know of an index.
function(tailscope_index_finds)
    set_property(TARGET tailscope_heap PROPERTY TAILSCOPE_INDEX_PROMISE "${ARGN}")
endfunction()

# tailscope_outside_source(<file>...): the file itself, without our warnings, and files of ours that
# it stands on. It may keep an array of its own type and read it as another, which GCC takes amiss
# (-fno-strict-aliasing).
function(tailscope_outside_source)
    set(file "${TAILSCOPE_OUTSIDE}/${TAILSCOPE_OUTSIDE_FILE}")
    set(beside "${TAILSCOPE_OUTSIDE}/beside")
    set_source_files_properties(
        "${file}" PROPERTIES
        COMPILE_OPTIONS "-w;-std=gnu11;-fno-strict-aliasing;-iquote;${beside};-idirafter;${beside}"
    )
    target_sources(tailscope_heap PRIVATE ${ARGN} "${file}")
endfunction()

# tailscope_outside_freertos(TILES|PLAIN <constant mentions> [<macro>...]): a FreeRTOS project's
# heap. TILES: its blocks are laid out as those of FreeRTOS, so allocators/freertos/shipped.c can
# read them. The macros are those of freertos_file.c and freertos/start.c.
function(tailscope_outside_freertos layout mentions)
    set(TAILSCOPE_CONSTANT_MENTIONS ${mentions})
    set(macros ${ARGN} "TAILSCOPE_OUTSIDE_FILE=\"${TAILSCOPE_OUTSIDE_FILE}\"")
    if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
        list(APPEND macros TAILSCOPE_RESETS_ONCE)
    endif()
    tailscope_heap_of_the_kernel(
        "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/freertos_file.c"
        INCLUDES "${TAILSCOPE_OUTSIDE}" "${TAILSCOPE_OUTSIDE}/beside" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.."
        DEFINITIONS ${macros} ${knob_definitions}
    )
    target_compile_options(tailscope_foreign PRIVATE -fno-strict-aliasing)
    if(layout STREQUAL "TILES")
        set(adapter "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../allocators/freertos/shipped.c")
    else()
        set(adapter "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/freertos_plain.c")
    endif()
    target_sources(tailscope_heap PRIVATE "${adapter}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../allocators/freertos/start.c")
    target_compile_definitions(tailscope_foreign PUBLIC OUTSIDE_${layout})
endfunction()
