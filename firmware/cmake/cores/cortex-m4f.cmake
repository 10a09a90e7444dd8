# The Cortex-M4 with its single-precision FPU: the compiler's flags, the folder of its assembly in
# firmware/board, FreeRTOS's port, Rust's target.
set(core_flags -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard)
set(core_architecture armv7m)
set(core_kernel_port portable/GCC/ARM_CM4F)
set(core_kernel_sources port.c)
set(core_rust_target thumbv7em-none-eabihf)
set(core_rust_flags -Ctarget-cpu=cortex-m4)
