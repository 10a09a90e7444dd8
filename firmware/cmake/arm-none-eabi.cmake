# Debian's gcc-arm-none-eabi with newlib-nano. What depends on the core is in board.cmake.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m)

find_program(TAILSCOPE_GCC arm-none-eabi-gcc)
if(NOT TAILSCOPE_GCC)
    message(FATAL_ERROR "arm-none-eabi-gcc is not on the PATH: install the package gcc-arm-none-eabi.")
endif()
set(CMAKE_C_COMPILER "${TAILSCOPE_GCC}")
set(CMAKE_ASM_COMPILER "${TAILSCOPE_GCC}")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# Every build is optimised as the published figures were: a debug build would measure another
# program. All flags stand here, so that neither CFLAGS in somebody's environment nor what an older
# build left in its cache changes anything.
set(CMAKE_C_FLAGS "-O2 -g -ffunction-sections -fdata-sections" CACHE STRING "" FORCE)
# No -g: GCC 12 does not hide folders from the assembler.
set(CMAKE_ASM_FLAGS "" CACHE STRING "" FORCE)
set(CMAKE_EXE_LINKER_FLAGS "--specs=nano.specs -nostartfiles -Wl,--gc-sections" CACHE STRING "" FORCE)
