# The Cortex-M0+: the compiler's flags, the folder of its
# assembly in firmware/board, FreeRTOS's port, Rust's target.
set(core_flags -mcpu=cortex-m0plus -mthumb -mfloat-abi=soft)
set(core_architecture armv6m)
set(core_kernel_port portable/GCC/ARM_CM0)
set(core_kernel_sources port.c portasm.c)
set(core_rust_target thumbv6m-none-eabi)
set(core_rust_flags -Ctarget-cpu=cortex-m0plus)
