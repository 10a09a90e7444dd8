# Sources from crates: cargo fetches and verifies what a package's Cargo.lock pins, and builds
# nothing of it.

# Runs cargo in `package`; sets <result>, <result>_complaint and <result>_status.
function(tailscope_cargo result package)
    find_program(TAILSCOPE_CARGO cargo)
    if(NOT TAILSCOPE_CARGO)
        message(FATAL_ERROR "cargo is not on the PATH: install Rust; it fetches the pinned sources.")
    endif()
    execute_process(
        COMMAND "${TAILSCOPE_CARGO}" ${ARGN}
        WORKING_DIRECTORY "${package}"
        OUTPUT_VARIABLE output ERROR_VARIABLE complaint RESULT_VARIABLE status)
    set(${result} "${output}" PARENT_SCOPE)
    set(${result}_status "${status}" PARENT_SCOPE)
    set(${result}_complaint "${complaint}" PARENT_SCOPE)
endfunction()

# The machine that cargo runs on: what only other machines need is not fetched.
function(tailscope_cargo_host result package)
    tailscope_cargo(version "${package}" -vV)
    if(NOT version MATCHES "host: ([^\n]+)")
        message(FATAL_ERROR "cargo -vV does not tell its host: ${version}${version_complaint}")
    endif()
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# cargo's metadata, from its cache if the crates are there, else after fetching them.
function(tailscope_crate_metadata result package)
    tailscope_cargo_host(host "${package}")
    set(ask metadata --locked --offline --format-version 1 --filter-platform "${host}")
    tailscope_cargo(metadata "${package}" ${ask})
    if(NOT metadata_status EQUAL 0)
        tailscope_cargo(fetch "${package}" fetch --locked --target "${host}")
        if(NOT fetch_status EQUAL 0)
            message(FATAL_ERROR "cargo could not fetch the sources pinned in ${package}: check the network.\n${fetch_complaint}")
        endif()
        tailscope_cargo(metadata "${package}" ${ask})
        if(NOT metadata_status EQUAL 0)
            message(FATAL_ERROR "cargo cannot tell where the sources pinned in ${package} are.\n${metadata_complaint}")
        endif()
    endif()
    set(${result} "${metadata}" PARENT_SCOPE)
endfunction()

# tailscope_crate_folder(<result> <package> <crate>): the folder of a crate that
# <package>/Cargo.lock pins.
function(tailscope_crate_folder result package crate)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${package}/Cargo.lock")
    tailscope_crate_metadata(metadata "${package}")
    string(JSON packages GET "${metadata}" packages)
    string(JSON count LENGTH "${packages}")
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
        string(JSON name GET "${packages}" ${index} name)
        if(name STREQUAL "${crate}")
            string(JSON manifest GET "${packages}" ${index} manifest_path)
            cmake_path(GET manifest PARENT_PATH folder)
            set(${result} "${folder}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "${crate} is not among the packages of ${package}: restore its Cargo.toml and Cargo.lock.")
endfunction()
