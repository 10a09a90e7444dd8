# The Cortex-M3: the compiler's flags, the folder of its
# assembly in firmware/board, FreeRTOS's port, Rust's target.
set(core_flags -mcpu=cortex-m3 -mthumb -mfloat-abi=soft)
set(core_architecture armv7m)
set(core_kernel_port portable/GCC/ARM_CM3)
set(core_kernel_sources port.c)
set(core_rust_target thumbv7m-none-eabi)
set(core_rust_flags -Ctarget-cpu=cortex-m3)
