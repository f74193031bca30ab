"""Page of a person's access tokens."""
