include_guard(DIRECTORY)

# The board that the firmware is for: what is shared is in firmware/board, by role; what is the
# board's is in its folder, most of it as a table (docs/reference/board-toml.md).
#
# Sets board (the shared folder), board_folder, board_includes, board_script (the linker's),
# board_family, board_locks, and what is known of its core, and defines tailscope_board_files().
# All that is compiled from here on is compiled for that core.
set(TAILSCOPE_BOARD "nucleo-f401re" CACHE STRING "A folder of firmware/boards, or the path of one elsewhere")
set(board "${CMAKE_CURRENT_LIST_DIR}/../board")
cmake_path(NORMAL_PATH board)

cmake_path(ABSOLUTE_PATH TAILSCOPE_BOARD BASE_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/../boards" NORMALIZE
           OUTPUT_VARIABLE board_folder)
if(NOT EXISTS "${board_folder}/board.toml")
    message(FATAL_ERROR "${board_folder} has no board.toml: set TAILSCOPE_BOARD to a folder of firmware/boards.")
endif()
find_program(TAILSCOPE_PYTHON python3 REQUIRED) # not find_package, which takes longer than a compilation
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${board_folder}/board.toml" "${board}/board.ld.in" "${board}/registers.toml"
             "${CMAKE_CURRENT_LIST_DIR}/../build/board_table.py")
set(board_made "${CMAKE_BINARY_DIR}/board")
execute_process(
    COMMAND "${TAILSCOPE_PYTHON}" -B -m firmware.build.board_table "${board_folder}" "${board_made}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/../.."
    OUTPUT_VARIABLE told ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${complaint}")
endif()
list(GET told 0 board_family)
list(GET told 1 core)
list(SUBLIST told 2 -1 board_locks)
# Of a core: the compiler's flags, the folder of its assembly in firmware/board, FreeRTOS's port, Rust's
# target. The M4F is the Cortex-M4 with its single-precision FPU.
string(REGEX REPLACE "f$" "" core_cpu "${core}")
set(core_flags -mcpu=${core_cpu} -mthumb -mfloat-abi=soft)
set(core_architecture armv7m)
set(core_kernel_sources port.c)
set(core_rust_flags -Ctarget-cpu=${core_cpu})
if(core MATCHES "^cortex-m0(plus)?$")
    set(core_architecture armv6m)
    set(core_kernel_port portable/GCC/ARM_CM0)
    set(core_kernel_sources port.c portasm.c)
    set(core_rust_target thumbv6m-none-eabi)
elseif(core STREQUAL "cortex-m3")
    set(core_kernel_port portable/GCC/ARM_CM3)
    set(core_rust_target thumbv7m-none-eabi)
elseif(core STREQUAL "cortex-m4f")
    set(core_flags -mcpu=${core_cpu} -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard)
    set(core_kernel_port portable/GCC/ARM_CM4F)
    set(core_rust_target thumbv7em-none-eabihf)
else()
    message(FATAL_ERROR "${board_folder} has the core '${core}', of which firmware/cmake/board.cmake knows nothing.")
endif()
add_compile_options(${core_flags})
add_link_options(${core_flags})
set(board_script "${board_made}/board.ld")

# A board's folder may bring its own file instead of its family's, and a family instead of the one
# that is shared. What is assembly is the core's.
set(board_places "${board_folder}" "${board}/${board_family}" "${board}/${core_architecture}" "${board}")
set(board_includes "${board_made}" ${board_places})
list(POP_BACK board_includes)

# tailscope_board_files(<result> <file>...): the paths of files of the board, each from the first of
# board_places that has it.
function(tailscope_board_files result)
    set(found)
    foreach(file IN LISTS ARGN)
        unset(path)
        find_file(path ${file} PATHS ${board_places} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
        if(NOT path)
            message(FATAL_ERROR "${board_folder} has no ${file}, and its family '${board_family}' neither: add the file.")
        endif()
        list(APPEND found "${path}")
    endforeach()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

tailscope_board_files(registers registers.toml) # board_table.py reads the same one
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${registers}")
