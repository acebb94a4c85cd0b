"""The gate's rules, one module each; ``gate.registry`` lists them."""
