# Debian's gcc-arm-none-eabi with newlib-nano, for the STM32F401RE: Cortex-M4 with the
# single-precision FPU.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)

find_program(TAILSCOPE_GCC arm-none-eabi-gcc)
if(NOT TAILSCOPE_GCC)
    message(FATAL_ERROR "arm-none-eabi-gcc is not on the PATH: install the package gcc-arm-none-eabi.")
endif()
set(CMAKE_C_COMPILER "${TAILSCOPE_GCC}")
set(CMAKE_ASM_COMPILER "${TAILSCOPE_GCC}")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# Every build is optimised as the published figures were: a debug build would measure another
# program. All flags stand here, so that CFLAGS in somebody's environment changes nothing.
set(core_flags "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
set(CMAKE_C_FLAGS "${core_flags} -O2 -g -ffunction-sections -fdata-sections" CACHE STRING "")
# No -g: GCC 12 does not hide folders from the assembler.
set(CMAKE_ASM_FLAGS "${core_flags}" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS "${core_flags} --specs=nano.specs -nostartfiles -Wl,--gc-sections" CACHE STRING "")
