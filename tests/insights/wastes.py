"""Programs that waste CPU time in one way each; usage: python wastes.py NAME."""

import asyncio
import contextlib
import copy
import datetime
import importlib
import io
import json
import logging
import queue
import re
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, ClassVar

SECONDS = 0.8


def runs() -> bool:
    return CLOCK() < END


def begin_run() -> None:
    """Begin the run after an import that compiles expressions, whose share is small.

    It is measured in CPU time: in seconds of a busy machine, that share would be large.
    """
    global CLOCK, END
    CLOCK = time.process_time
    END = CLOCK() + 4 * SECONDS


def regex_compile() -> None:
    number = 0
    while runs():
        re.compile(f"a{number}b+|c{number}")
        number += 1


def json_round_trips() -> None:
    rows = [{"order": number} for number in range(100)]
    while runs():
        json.loads(json.dumps(rows))


def deepcopy() -> None:
    orders = {number: [number] * 5 for number in range(50)}
    while runs():
        copy.deepcopy(orders)


def date_parsing() -> None:
    while runs():
        datetime.datetime.strptime("2026-01-02 03:04 +0000", "%Y-%m-%d %H:%M %z")


def logging_in_loop() -> None:
    logger = logging.getLogger("shop")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    logger.propagate = False
    logger.setLevel(logging.INFO)
    while runs():
        logger.info("order %d of %s", 1, "shop")


def tracebacks() -> None:
    while runs():
        try:
            raise ValueError
        except ValueError:
            traceback.format_exc()


def imports() -> None:
    def handle() -> None:
        while runs():
            for name in ("colorsys", "quopri", "stringprep"):
                sys.modules.pop(name, None)
                importlib.import_module(name)

    thread = threading.Thread(target=handle)
    thread.start()
    thread.join()


def blocking_in_async() -> None:
    async def handle() -> None:
        while runs():
            subprocess.run(["/bin/true"], check=True)  # noqa: ASYNC221  the waste

    asyncio.run(handle())


def tls_contexts() -> None:
    while runs():
        ssl.create_default_context()


def run_threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def lock_waits() -> None:
    lock = threading.Lock()

    def work() -> None:
        while runs():
            with lock:
                time.sleep(0.002)

    run_threads(work)


def logging_lock() -> None:
    class SlowStream(io.StringIO):
        def write(self, text: str) -> int:
            time.sleep(0.002)
            return len(text)

    logger = logging.getLogger("shop")
    logger.addHandler(logging.StreamHandler(SlowStream()))
    logger.propagate = False
    logger.setLevel(logging.INFO)

    def work() -> None:
        while runs():
            logger.info("order")

    run_threads(work)


def queue_workers() -> None:
    jobs: queue.Queue[int] = queue.Queue()

    def work() -> None:
        while runs():
            with contextlib.suppress(queue.Empty):
                jobs.get(timeout=0.1)

    run_threads(work)


def connection_pool() -> None:
    urllib3 = importlib.import_module("urllib3")  # compiles expressions: not in the other programs
    pool = urllib3.HTTPConnectionPool("127.0.0.1", maxsize=1, block=True)

    def work() -> None:
        while runs():
            connection = pool._get_conn()
            time.sleep(0.002)
            pool._put_conn(connection)

    run_threads(work)


def make_engine() -> Any:
    """Return a template engine of Django with its libraries loaded; the run begins now."""
    from django.conf import settings

    settings.configure(USE_I18N=False)
    from django.template import Engine

    engine = Engine()
    engine.from_string(_PAGE)  # Imports modules, which compile regular expressions.
    begin_run()
    return engine


_PAGE = "{% for row in rows %}<li>{{ row.name|upper }}: {{ row.price }}</li>{% endfor %}"


def template_strings() -> None:
    engine = make_engine()
    while runs():
        engine.from_string(_PAGE)


def template_kept() -> None:
    from django.template import Context

    page = make_engine().from_string(_PAGE)
    rows = [{"name": "tea", "price": 3}]
    while runs():
        page.render(Context({"rows": rows}))


def make_purchases() -> Any:
    """Return a model of Django with a relation, and 300 rows; the time of the run begins now."""
    from django.conf import settings

    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
    settings.configure(
        DATABASES={"default": database}, DEFAULT_AUTO_FIELD="django.db.models.AutoField"
    )
    import django

    django.setup()
    from django.db import connection, models

    class Merchant(models.Model):
        name = models.CharField(max_length=20)
        objects: ClassVar[models.Manager[Any]] = models.Manager()

        class Meta:
            app_label = "wastes"

        def __str__(self) -> str:
            return self.name

    class Purchase(models.Model):
        merchant = models.ForeignKey(Merchant, on_delete=models.CASCADE)
        name = models.CharField(max_length=20)
        amount = models.IntegerField()
        state = models.CharField(max_length=20)
        objects: ClassVar[models.Manager[Any]] = models.Manager()

        class Meta:
            app_label = "wastes"

        def __str__(self) -> str:
            return self.name

    with connection.schema_editor() as editor:
        editor.create_model(Merchant)
        editor.create_model(Purchase)
    merchant = Merchant.objects.create(name="Acme")
    names = [f"purchase {number}" for number in range(300)]
    Purchase.objects.bulk_create(
        Purchase(merchant=merchant, name=name, amount=1, state="open") for name in names
    )
    begin_run()
    return Purchase


def django_rows() -> None:
    purchase = make_purchases()
    while runs():
        sum(each.amount for each in purchase.objects.all())


def django_relations() -> None:
    purchase = make_purchases()
    while runs():
        for each in purchase.objects.all()[:20]:
            each.merchant.name.upper()


def django_values() -> None:
    """Read the same without instances."""
    purchase = make_purchases()
    while runs():
        sum(purchase.objects.values_list("amount", flat=True).iterator(chunk_size=1000))


def make_orders() -> Any:
    """Return an open session of SQLAlchemy and a mapped class with a relationship, of 300 rows."""
    from sqlalchemy import ForeignKey, create_engine
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

    class MappedBase(DeclarativeBase):
        pass

    class Shopper(MappedBase):
        __tablename__ = "shopper"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]

    class CustomerOrder(MappedBase):
        __tablename__ = "customer_order"
        id: Mapped[int] = mapped_column(primary_key=True)
        shopper_id: Mapped[int] = mapped_column(ForeignKey("shopper.id"))
        name: Mapped[str]
        amount: Mapped[int]
        shopper: Mapped[Shopper] = relationship(Shopper)

    engine = create_engine("sqlite://")
    MappedBase.metadata.create_all(engine)
    session = Session(engine)
    for number in range(300):
        session.add(CustomerOrder(name=f"order {number}", amount=1, shopper=Shopper(name="Mara")))
    session.commit()
    begin_run()
    return session, CustomerOrder


def sqlalchemy_rows() -> None:
    session, order = make_orders()
    while runs():
        sum(each.amount for each in session.query(order))
        session.expunge_all()


def sqlalchemy_relations() -> None:
    session, order = make_orders()
    while runs():
        for each in session.query(order).all()[:20]:
            each.shopper.name.upper()
        session.expunge_all()


def sqlalchemy_columns() -> None:
    """Read the same without objects."""
    session, order = make_orders()
    while runs():
        sum(amount for (amount,) in session.query(order.amount))


def gil_waits() -> None:
    run_threads(plain_work)


def plain_work() -> None:
    total = 0
    while runs():
        total += sum(number * number for number in range(1000))


CLOCK = time.monotonic
END = CLOCK() + SECONDS
globals()[sys.argv[1]]()
