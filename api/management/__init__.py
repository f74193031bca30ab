"""Resources that manage a project and an account, for personal access tokens."""
