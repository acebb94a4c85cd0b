"""The wiring of the loop: knowledge, device, proposer and run folder behind one machine."""
