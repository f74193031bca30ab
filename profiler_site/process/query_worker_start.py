"""Start of one worker process of queries, imported after it was forked."""

from common.metric_exchange import start_exchange

start_exchange("query")
