"""The app: the pages of `dashboards/pages` over all run folders, in a browser on this machine."""
