"""The query API, `GET /api/v1/projects/{project}/…`; docs/reference/api.md."""
