"""The parts of the experience commands: what is asked, what is added, how it is shown."""
