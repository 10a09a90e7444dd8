"""Run folders loaded: what each holds, how sure it is, its name and looks among others."""
