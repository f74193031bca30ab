"""A Celery application whose tasks follow each other, on a broker of files."""

import os
from pathlib import Path

from celery import Celery
from celery.signals import worker_process_init

from tests.end_to_end.hosts.shop import checkout, open_shop

folder = Path(os.environ["BROKER_FOLDER"])
(folder / "queue").mkdir(exist_ok=True)
(folder / "control").mkdir(exist_ok=True)
app = Celery("shop", broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": str(folder / "queue"),
    "data_folder_out": str(folder / "queue"),
    "control_folder": str(folder / "control"),
}
app.conf.task_ignore_result = True
app.conf.broker_connection_retry_on_startup = True


@worker_process_init.connect
def begin(**_: object) -> None:
    open_shop()


@app.task
def pay() -> None:
    checkout()
    pay.delay()
