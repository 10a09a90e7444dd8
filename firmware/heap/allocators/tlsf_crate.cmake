if(NOT TAILSCOPE_FLL MATCHES "^([1-9]|1[01])$")
    message(FATAL_ERROR "TAILSCOPE_FLL is ${TAILSCOPE_FLL}: the crate tlsf has 1 to 11 first levels.")
endif()
target_compile_definitions(tailscope_heap PRIVATE TAKES_16_BITS) # the crate's size of a request
tailscope_rust_heap(tlsf TAILSCOPE_FLL=${TAILSCOPE_FLL})
