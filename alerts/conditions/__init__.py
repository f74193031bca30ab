"""Conditions of alert rules; pure: they know neither Django nor a clock, nor the other apps."""
