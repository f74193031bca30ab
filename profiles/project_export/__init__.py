"""Export of a project as a tar archive, made in the background.

- jobs.py is the interface of pages: request, cancel, list, download and expire.
- runner.py makes the archive in steps, each of which is one commit; a killed job goes on.
- profile_files.py merges the profiles of an hour as pprof files, in a worker process of queries.
- documents.py describes the project without secrets.

An archive is a sequence of blobs, the rows of ExportPart: their bytes in order are the tar file.
"""
