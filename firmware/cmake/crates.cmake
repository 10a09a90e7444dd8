# tailscope_crate_folder(<result> <package> <crate>): the folder of a crate that <package>/Cargo.lock
# pins. cargo fetches and verifies it where it is not there yet, and builds nothing of it.
function(tailscope_crate_folder result package crate)
    find_program(TAILSCOPE_CARGO cargo)
    if(NOT TAILSCOPE_CARGO)
        message(FATAL_ERROR "cargo is not on the PATH: install Rust; it fetches the pinned sources.")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${package}/Cargo.lock")
    # The machine that cargo runs on: what only other machines need is not fetched.
    execute_process(COMMAND "${TAILSCOPE_CARGO}" -vV OUTPUT_VARIABLE version)
    string(REGEX MATCH "host: ([^\n]+)" host "${version}")
    execute_process(
        COMMAND "${TAILSCOPE_CARGO}" metadata --locked --format-version 1 --filter-platform "${CMAKE_MATCH_1}"
        WORKING_DIRECTORY "${package}"
        OUTPUT_VARIABLE metadata ERROR_VARIABLE complaint RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "cargo could not fetch the sources pinned in ${package}: check the network.\n${complaint}")
    endif()
    if(NOT metadata MATCHES "\"manifest_path\":\"([^\"]*/${crate}-[0-9][^\"/]*)/Cargo\\.toml\"")
        message(FATAL_ERROR "${crate} is not among the packages of ${package}: restore its Cargo.toml and Cargo.lock.")
    endif()
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
