"""What the desk is asked before a run is believed: devices, rights, flash, captures."""
