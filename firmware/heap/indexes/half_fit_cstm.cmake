tailscope_knob(SEARCH_THRESHOLD 0 "blocks looked at in a request's own bin; 0 = off, all of them")
tailscope_header_knob()
if(NOT TAILSCOPE_HDR EQUAL 16)
    tailscope_smallest_payload(16) # a block of 24 bytes, and bins from 16 bytes on, as in the thesis
endif()
