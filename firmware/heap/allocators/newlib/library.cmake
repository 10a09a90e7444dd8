# tailscope_newlib(<library> <member>...): members of an archive of newlib, by name linked before
# the C library itself.
function(tailscope_newlib library)
    if(NOT core_flags)
        message(FATAL_ERROR "${TAILSCOPE_ALLOCATOR} is compiled code for the target: there is no host build of it.")
    endif()
    execute_process(
        COMMAND "${CMAKE_C_COMPILER}" ${core_flags} -print-file-name=${library}
        OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${archive}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/newlib")
    file(MAKE_DIRECTORY "${folder}")
    execute_process(COMMAND "${CMAKE_AR}" x "${archive}" ${ARGN} WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${archive} lacks one of ${ARGN}: install Debian's libnewlib-arm-none-eabi 3.3.0.")
    endif()
    list(TRANSFORM ARGN PREPEND "${folder}/" OUTPUT_VARIABLE objects)
    target_sources(tailscope_heap PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sbrk.c" ${objects})
endfunction()
