"""MCP server: tools with which assistants read profiles; see docs/guide/assistants.md."""
