tailscope_pinned(crate lvgl-sys)
set(folder "${crate}/vendor/lvgl/src/misc")
if(TAILSCOPE_REQUIRE)
    set(assert "__builtin_trap()\;")
endif()
tailscope_foreign(
    SOURCES "${folder}/lv_tlsf.c"
    INCLUDES "${folder}"
    DEFINITIONS LV_CONF_SKIP LV_KCONFIG_IGNORE LV_MEM_SIZE=${TAILSCOPE_HEAP_BYTES} LV_MEMCPY_MEMSET_STD=1
                "LV_ASSERT_HANDLER=${assert}"
)
