// The page of a bring-up has no figures: only its theme can be changed.
tailscope.theme(() => {});
