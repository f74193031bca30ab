"""Alerts: rules of a project that are evaluated each minute, their incidents and silences."""
