"""Turning records into text and JSON; no decision is made here."""
