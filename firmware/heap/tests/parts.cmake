# Links what parts/CMakeLists.txt compiles once for all allocators: the library parts, and one for
# the main() of each program.
#
# The build makes it in TAILSCOPE_TEST_PARTS, by running this file as a script. If several
# allocators build at once, one makes the parts and the others wait.
if(CMAKE_SCRIPT_MODE_FILE)
    file(MAKE_DIRECTORY "${FOLDER}")
    file(LOCK "${FOLDER}" DIRECTORY GUARD PROCESS)
    set(source "${CMAKE_CURRENT_LIST_DIR}/parts")
    if(NOT EXISTS "${FOLDER}/build.ninja")
        execute_process(
            COMMAND "${CMAKE_COMMAND}" -S "${source}" -B "${FOLDER}" -G Ninja "-DCMAKE_C_COMPILER=${COMPILER}"
                    "-DTAILSCOPE_SANITIZE=${SANITIZE}"
            OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY
        )
    endif()
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

set(sanitized "")
if(TAILSCOPE_SANITIZE)
    set(sanitized -sanitized)
endif()
cmake_path(SET builds NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../build/heap-tests")
set(TAILSCOPE_TEST_PARTS "${builds}/parts${sanitized}" CACHE PATH "Where the parts for all allocators are built")

set(parts parts judge)
list(TRANSFORM parts REPLACE "(.+)" "${TAILSCOPE_TEST_PARTS}/lib\\1.a" OUTPUT_VARIABLE part_files)
add_custom_target(
    tailscope_test_parts
    COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${TAILSCOPE_TEST_PARTS}" "-DCOMPILER=${CMAKE_C_COMPILER}"
            "-DSANITIZE=${TAILSCOPE_SANITIZE}" -P "${CMAKE_CURRENT_LIST_FILE}"
    BYPRODUCTS ${part_files}
    VERBATIM
)
foreach(part IN LISTS parts)
    add_library(part_${part} STATIC IMPORTED)
    target_link_libraries(part_${part} INTERFACE part_parts tailscope_heap)
    set_target_properties(part_${part} PROPERTIES IMPORTED_LOCATION "${TAILSCOPE_TEST_PARTS}/lib${part}.a")
    add_dependencies(part_${part} tailscope_test_parts)
endforeach()
target_link_libraries(tailscope_heap INTERFACE part_parts) # which provides port.h
