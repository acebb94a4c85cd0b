"""Bring knowledge in: the wiki, reports, work and outcomes become engine records."""
