# The words that say how an allocator is built. Those of the catalogue's row come from
# firmware/build/promises.py; what else a build takes, <id>.cmake says.

include("${CMAKE_CURRENT_LIST_DIR}/../cmake/crates.cmake")

# Allocators of FreeRTOS, newlib and Rust's crates have words of their own.
include("${CMAKE_CURRENT_LIST_DIR}/allocators/freertos/shipped.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/allocators/newlib/library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/rust/rust.cmake")

# tailscope_smallest_payload(<bytes>): what an index keeps in the payload of a free block.
macro(tailscope_smallest_payload bytes)
    set(smallest_payload ${bytes})
endmacro()
tailscope_smallest_payload(8)

# tailscope_knob(<NAME> <default>): a whole number that can be chosen with -DTAILSCOPE_<NAME>=.
macro(tailscope_knob name default)
    set(TAILSCOPE_${name} ${default} CACHE STRING "A knob of ${TAILSCOPE_ALLOCATOR}")
    if(NOT TAILSCOPE_${name} MATCHES "^(0|[1-9][0-9]*)$")
        message(FATAL_ERROR "TAILSCOPE_${name} is '${TAILSCOPE_${name}}': say a whole number.")
    endif()
    list(APPEND knob_definitions TAILSCOPE_${name}=${TAILSCOPE_${name}}u)
    list(APPEND knob_words ${name}=${TAILSCOPE_${name}})
endmacro()

# tailscope_locking(<kind>...): the only locks that it works under, the default first. Without it, all.
macro(tailscope_locking default)
    set(TAILSCOPE_LOCKING ${default} CACHE STRING "How the heap holds others off")
    set(lockings ${default} ${ARGN})
    if(NOT TAILSCOPE_LOCKING IN_LIST lockings)
        message(FATAL_ERROR "${TAILSCOPE_ALLOCATOR} does not work under TAILSCOPE_LOCKING=${TAILSCOPE_LOCKING}: choose one of ${lockings}.")
    endif()
endmacro()

# tailscope_promises(<promises>): what the contract tests hold it to. What it does not promise they
# leave out, by name, where it comes up.
function(tailscope_promises promises)
    set_property(TARGET tailscope_heap PROPERTY TAILSCOPE_PROMISES "${promises}")
endfunction()

# tailscope_foreign(SOURCES <file>... [INCLUDES <folder>...] [DEFINITIONS <macro>...] [OPTIONS
# <flag>...]): sources of others, compiled as they are, without our warnings, into a library behind
# the adapter. The adapter sees the same include folders and macros.
function(tailscope_foreign)
    cmake_parse_arguments(PARSE_ARGV 0 foreign "" "" "SOURCES;INCLUDES;DEFINITIONS;OPTIONS")
    add_library(tailscope_foreign STATIC ${foreign_SOURCES})
    target_include_directories(tailscope_foreign SYSTEM PUBLIC ${foreign_INCLUDES})
    target_compile_definitions(tailscope_foreign PUBLIC ${foreign_DEFINITIONS})
    target_compile_options(tailscope_foreign PRIVATE -w ${foreign_OPTIONS})
    target_link_libraries(tailscope_heap PRIVATE tailscope_foreign)
endfunction()

# tailscope_hide_sources(<folder> <name>): what is compiled calls the folder, of sources of others,
# by the name.
function(tailscope_hide_sources folder name)
    add_compile_options("-ffile-prefix-map=${folder}=${name}")
    target_compile_options(tailscope_heap PRIVATE "-ffile-prefix-map=${folder}=${name}")
endfunction()

# tailscope_pinned(<result> <crate>): the folder of a crate that package/Cargo.lock pins, for
# tailscope_foreign(). What is compiled calls it by the crate's name.
function(tailscope_pinned result crate)
    tailscope_crate_folder(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package" ${crate})
    tailscope_hide_sources("${folder}" ${crate})
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Writes what the words above came to. The allocator's sources see the knobs, and so do the host
# tests, which read a property of the target.
function(tailscope_write_definitions)
    list(JOIN knob_words "/" knobs)
    string(LENGTH "${TAILSCOPE_ALLOCATOR}${knobs}" told)
    if(told GREATER 63)
        message(FATAL_ERROR "${knobs} leaves no room for the rest of the BOOT record: say smaller numbers.")
    endif()
    target_compile_definitions(
        tailscope_heap
        PUBLIC TAILSCOPE_SMALLEST_PAYLOAD=${smallest_payload}
        PRIVATE TAILSCOPE_HEAP_BYTES=${TAILSCOPE_HEAP_BYTES} "TAILSCOPE_KNOBS=\"${knobs}\"" ${knob_definitions}
    )
    if(TAILSCOPE_REGION_OF_ANY_SIZE)
        target_compile_definitions(tailscope_heap PRIVATE TAILSCOPE_REGION_OF_ANY_SIZE)
    endif()
    if(TAILSCOPE_REQUIRE)
        target_compile_definitions(tailscope_heap PRIVATE TAILSCOPE_REQUIRE)
    endif()
    set_property(TARGET tailscope_heap PROPERTY TAILSCOPE_KNOB_DEFINITIONS "${knob_definitions}")
endfunction()
