"""Deletion of a project's data: of a selection of profiles, of a service, or of everything.

- jobs.py is the interface of pages and the admin: request, cancel, restore and list.
- selection.py says which profiles a job deletes.
- runner.py performs a job in small steps, each of which is one commit. A killed job goes on from
  its row, at the next run of the task.

A job passes over head and blocks, deletes the rows, and rewrites blocks and blobs that have other
data too. Then it waits until the old blobs are deleted, which queries may still read, and passes
again: uploads and compactions that ran meanwhile never bring deleted profiles back.
"""
