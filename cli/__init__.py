"""What the tasks call: options, campaign, choice of allocators, inventory, doctor, test suite."""
