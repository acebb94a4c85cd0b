"""The loop as a state machine: what is asked next, given every answer so far."""
