tailscope_smallest_payload(24) # two links, two subtrees, a height
