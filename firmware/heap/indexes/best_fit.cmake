if(TAILSCOPE_LEAST LESS 8)
    message(FATAL_ERROR "TAILSCOPE_LEAST is ${TAILSCOPE_LEAST}: a free block keeps two links, so say 8 or more.")
endif()
tailscope_smallest_payload(${TAILSCOPE_LEAST})
