tailscope_newlib(
    libc_nano.a lib_a-nano-mallocr.o lib_a-nano-freer.o lib_a-nano-reallocr.o lib_a-nano-malignr.o lib_a-nano-msizer.o
)
