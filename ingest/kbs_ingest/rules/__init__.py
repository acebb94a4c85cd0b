"""SQL of symptom rules: what is allowed, and its evaluation."""
