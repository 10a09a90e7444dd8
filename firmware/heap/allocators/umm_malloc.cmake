# Its configuration is the crate's: best fit. The adapter replaces printf, because there is no
# standard output.
tailscope_pinned(crate umm-malloc-sys)
tailscope_foreign(
    SOURCES "${crate}/umm_malloc/src/umm_malloc.c"
    INCLUDES "${crate}/umm_malloc/src" "${crate}/src"
    DEFINITIONS UMM_INTEGRITY_CHECK printf=umm_printf
)
