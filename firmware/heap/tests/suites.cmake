# What the host's and the target's build of the tests have in common.

# Not find_package(Python3): that takes longer than to compile an allocator.
find_program(TAILSCOPE_PYTHON python3 REQUIRED)

# The suites that go through heap.h alone, and so are for every allocator.
set(common_suites requests contents recovery account reallocation markers limits)

# Reads from the catalogue what the allocator promises. What it does not promise is left out, by
# name, where it comes up.
function(tailscope_promises result)
    if(TAILSCOPE_OUTSIDE)
        get_target_property(stated tailscope_heap TAILSCOPE_PROMISES)
        set(${result} "${stated}" PARENT_SCOPE)
        return()
    endif()
    set(heap "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
    execute_process(
        COMMAND "${TAILSCOPE_PYTHON}" -B -m firmware.build.promises ${TAILSCOPE_ALLOCATOR}
        WORKING_DIRECTORY "${heap}/../.."
        OUTPUT_VARIABLE promises OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_VARIABLE complaint RESULT_VARIABLE status
    )
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "The catalogue does not tell what ${TAILSCOPE_ALLOCATOR} promises:\n${complaint}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${heap}/catalogue.toml")
    set(${result} "${promises}" PARENT_SCOPE)
endfunction()
