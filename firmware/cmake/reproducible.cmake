# The same sources give the same bytes from any folder: no absolute path reaches the ELF, not even
# through debug information. Nor do relative ones, which ccache makes of them.
function(tailscope_hide_folder folder name)
    add_compile_options("-ffile-prefix-map=${folder}=${name}")
    file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${folder}")
    if(relative)
        add_compile_options("-ffile-prefix-map=${relative}=${name}")
    endif()
endfunction()

tailscope_hide_folder("${CMAKE_BINARY_DIR}" build)
tailscope_hide_folder("${CMAKE_CURRENT_SOURCE_DIR}" firmware)
add_compile_options(-Wdate-time)
