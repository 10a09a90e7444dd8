# tailscope_rust_heap(<feature> [<NAME>=<value>...]): links the Rust allocator that the feature of
# this package chooses, and its adapter. Its source reads the rest with option_env!().
#
# Debian has no core library for the target, so cargo builds it from the compiler's own source,
# which Debian packages (rustc-web and rust-web-src, of one version). A released compiler allows
# that only with RUSTC_BOOTSTRAP=1. All builds share what was built of core, in
# TAILSCOPE_RUST_BUILDS.
set(rust_package "${CMAKE_CURRENT_LIST_DIR}")
cmake_path(SET rust_builds NORMALIZE "${rust_package}/../../../build/rust")
set(TAILSCOPE_RUST_BUILDS "${rust_builds}" CACHE PATH "Where cargo builds the Rust allocators and the core library")
set(rust_std core) # <id>.cmake says so before the call where a crate needs more of the library

function(tailscope_rust_heap feature)
    # A rustc with its source: Ubuntu's newest or Debian's if it is there, so that machines agree,
    # else the first on the PATH.
    file(GLOB beside /usr/lib/rust-1.*/bin)
    list(SORT beside COMPARE NATURAL ORDER DESCENDING)
    find_program(TAILSCOPE_CARGO cargo)
    find_program(TAILSCOPE_RUSTC rustc PATHS ${beside} /usr/bin NO_DEFAULT_PATH)
    find_program(TAILSCOPE_RUSTC rustc)
    if(NOT TAILSCOPE_CARGO OR NOT TAILSCOPE_RUSTC)
        message(FATAL_ERROR "cargo or rustc is not on the PATH: install the packages cargo-web, rustc-web and rust-web-src.")
    endif()
    execute_process(COMMAND "${TAILSCOPE_RUSTC}" --print sysroot OUTPUT_VARIABLE sysroot OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(rust_source "${sysroot}/lib/rustlib/src/rust")
    if(NOT EXISTS "${rust_source}/library/core/src/lib.rs")
        message(FATAL_ERROR "${TAILSCOPE_RUSTC} has no source of its library: install the packages rustc-web and rust-web-src, both of one version.")
    endif()

    # The machine that is compiled for, by default this one; core_rust_flags match those of our C.
    set(rust_target i686-unknown-linux-gnu)
    if(core_rust_target)
        set(rust_target ${core_rust_target})
    endif()

    # No absolute path reaches the library, so the same sources give the same bytes from any folder.
    set(cargo_home "$ENV{CARGO_HOME}")
    if(NOT cargo_home)
        set(cargo_home "$ENV{HOME}/.cargo")
    endif()
    file(REAL_PATH "${rust_source}" real_source)
    set(flags ${core_rust_flags})
    foreach(pair "${rust_package}=rust" "${TAILSCOPE_RUST_BUILDS}=build" "${cargo_home}=cargo" "${real_source}=core" "${rust_source}=core")
        list(APPEND flags "--remap-path-prefix=${pair}")
    endforeach()
    string(ASCII 31 separator)
    list(JOIN flags "${separator}" encoded)
    set(cargo
        "${CMAKE_COMMAND}" -E env "RUSTC=${TAILSCOPE_RUSTC}" RUSTC_BOOTSTRAP=1 "CARGO_ENCODED_RUSTFLAGS=${encoded}"
        CARGO_INCREMENTAL=0 ${ARGN} "${TAILSCOPE_CARGO}")
    set(pinned --locked -Zbuild-std=${rust_std} --target ${rust_target})

    # What Cargo.lock and the compiler's own lock file pin, if it is not there yet.
    execute_process(
        COMMAND ${cargo} fetch ${pinned}
        WORKING_DIRECTORY "${rust_package}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE complaint)
    if(failed)
        message(FATAL_ERROR "cargo could not fetch the crates of heap/rust: check the network.\n${complaint}")
    endif()

    # A host's build may set TAILSCOPE_RUST_FLAGS: they are for the allocator and its crate, since all
    # builds share the core library.
    if(TAILSCOPE_RUST_FLAGS)
        list(JOIN TAILSCOPE_RUST_FLAGS "\",\"" flags)
        set(options -Zprofile-rustflags)
        foreach(package tailscope-rust-allocators ${feature})
            list(APPEND options --config "profile.firmware.package.${package}.rustflags=[\"${flags}\"]")
        endforeach()
    endif()

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/rust")
    set(library "${folder}/libtailscope_rust_allocators.a")
    file(GLOB sources CONFIGURE_DEPENDS "${rust_package}/src/*.rs")
    add_custom_command(
        OUTPUT "${library}"
        COMMAND ${cargo} build --quiet --profile firmware --offline --features ${feature} ${pinned}
                --target-dir "${TAILSCOPE_RUST_BUILDS}" ${options} -Zunstable-options --artifact-dir "${folder}"
        WORKING_DIRECTORY "${rust_package}"
        DEPENDS ${sources} "${rust_package}/Cargo.toml" "${rust_package}/Cargo.lock"
        COMMENT "Building the crate ${feature} for ${rust_target}"
        VERBATIM)
    add_custom_target(tailscope_rust DEPENDS "${library}")
    target_sources(tailscope_heap PRIVATE "${rust_package}/adapter.c")
    add_dependencies(tailscope_heap tailscope_rust)
    target_link_libraries(tailscope_heap PRIVATE "${library}")
    # Rust's objects say that the stack is not executable, GCC's for the target say nothing. No
    # warning is needed.
    target_link_options(tailscope_heap INTERFACE -Wl,--no-warn-execstack)
endfunction()
