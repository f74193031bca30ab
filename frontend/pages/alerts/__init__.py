"""Pages of alerts: the list of rules, incidents and silences, and the page of a rule."""
