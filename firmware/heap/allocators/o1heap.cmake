tailscope_pinned(crate o1heap)
set(folder "${crate}/o1heap/o1heap")
tailscope_foreign(SOURCES "${folder}/o1heap.c" INCLUDES "${folder}" DEFINITIONS NDEBUG)
