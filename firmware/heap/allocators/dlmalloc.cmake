tailscope_pinned(crate libffi-sys)
if(TAILSCOPE_REQUIRE)
    set(assert DEBUG=1 ABORT_ON_ASSERT_FAILURE=1)
endif()
tailscope_foreign(
    SOURCES "${crate}/libffi/src/dlmalloc.c"
    DEFINITIONS
        ONLY_MSPACES=1 HAVE_MMAP=0 HAVE_MORECORE=0 USE_LOCKS=0 NO_MALLOC_STATS=1 MALLOC_FAILURE_ACTION=
        ABORT=__builtin_trap\(\) malloc_getpagesize=4096
        ${assert} LACKS_UNISTD_H LACKS_FCNTL_H LACKS_SYS_PARAM_H LACKS_SYS_MMAN_H LACKS_TIME_H LACKS_SCHED_H
)
