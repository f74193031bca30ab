"""Query API, `GET /api/v1/projects/{project}/…`; see docs/reference/api.md."""
