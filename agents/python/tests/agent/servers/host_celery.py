"""Celery application with a filesystem broker, which needs no server."""

import os
from pathlib import Path

from celery import Celery
from host_apps import burn

folder = Path(os.environ["BROKER_FOLDER"])
for name in ("queue", "control"):
    (folder / name).mkdir(exist_ok=True)

app = Celery("shop", broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": str(folder / "queue"),
    "data_folder_out": str(folder / "queue"),
    "control_folder": str(folder / "control"),
}
app.conf.task_ignore_result = True
app.conf.broker_connection_retry_on_startup = True


@app.task
def ship() -> None:
    burn()
