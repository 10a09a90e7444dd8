tailscope_newlib(libc.a lib_a-mallocr.o lib_a-freer.o lib_a-reallocr.o lib_a-malignr.o lib_a-msizer.o)
