"""Roll-up: head rows become hour blocks, hour blocks day blocks; docs/development/architecture.md.

Every step is: read, build, write a blob, then one commit in which the blocks appear and what they
were made of vanishes. A step that dies leaves everything as it was, and a blob that is swept.
Two that do the same work at once: one commits, the other finds its sources gone and gives up.
"""
