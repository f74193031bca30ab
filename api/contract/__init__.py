"""OpenAPI contract of the API under /api/v1, built from the declarations of its resources."""
