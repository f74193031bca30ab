"""The query API: `GET /api/v1/projects/{project}/…`, for programs that read (docs/api.md)."""
