# What the host's and the target's build of the tests have in common.

# The suites that go through heap.h alone, and so are for every allocator.
set(common_suites requests contents recovery account reallocation markers limits)
get_target_property(promises tailscope_heap TAILSCOPE_PROMISES)
