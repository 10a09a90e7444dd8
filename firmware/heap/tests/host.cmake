# How every program of the host tests is compiled: for a 32-bit PC, so that headers and pointers
# have the target's sizes.
option(TAILSCOPE_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -m32)
check_c_source_compiles("#include <stdint.h>\nint main(void) { return 0; }" TAILSCOPE_HOST_COMPILES_32_BIT)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT TAILSCOPE_HOST_COMPILES_32_BIT)
    # Not kept: the package may be there when CMake is called again.
    unset(TAILSCOPE_HOST_COMPILES_32_BIT CACHE)
    message(FATAL_ERROR "The C compiler cannot build 32-bit programs: install the package gcc-multilib.")
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
add_compile_options(-m32 -O2 -g -Wall -Wextra -Werror -Wconversion -Wshadow)
add_link_options(-m32)
if(TAILSCOPE_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
