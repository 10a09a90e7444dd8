if(NOT TAILSCOPE_HDR EQUAL 16)
    tailscope_smallest_payload(16) # a block of 24 bytes, and bins from 16 bytes on, as in the thesis
endif()
