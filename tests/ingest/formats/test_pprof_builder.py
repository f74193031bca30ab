"""ProfileBuilder: the decoder reads what it builds."""

from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import WorkBudget
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import DecodeLimits, decode_profile

CPU = [Metric("samples", "count"), Metric("cpu", "nanoseconds")]


def built() -> ProfileBuilder:
    builder = ProfileBuilder(CPU, WorkBudget(1000), default="cpu")
    main = builder.location(Frame("main", "app.py", 3))
    leaf = builder.location(Frame("work", "app.py", 9, "libwork.so"))
    builder.add([leaf, main], [1, 10])
    builder.add([leaf, main], [2, 20])
    builder.add([main], [1, 5], {"endpoint": "/cart"})
    return builder


def test_the_decoder_reads_stacks_values_times_and_labels() -> None:
    decoded = decode_profile(built().build(10**18, 10**10), "CPU", DecodeLimits())
    assert dict(zip(decoded.tree.metrics, decoded.totals, strict=True)) == {
        Metric("samples", "count"): 4,
        Metric("cpu", "nanoseconds"): 35,
    }
    assert decoded.samples == 2  # equal stacks are one sample
    assert (decoded.time_ns, decoded.duration_ns) == (10**18, 10**10)
    assert decoded.tree.metrics[decoded.default].name == "cpu"
    strings = decoded.tree.frames.strings
    assert {"main", "work", "app.py", "\tlibwork.so"} <= set(strings)  # mapping without build id
    labelled = decoded.tree.labelled
    assert labelled
    assert [(label.key, label.value) for labels in labelled.label_sets for label in labels] == [
        ("endpoint", "/cart")
    ]


def test_equal_input_gives_equal_bytes() -> None:
    assert built().build() == built().build()


def test_strings_that_utf8_cannot_encode_are_replaced() -> None:
    builder = ProfileBuilder([Metric("samples", "count")], WorkBudget(1000))
    builder.add([builder.location(Frame("a\ud800b"))], [1])
    decoded = decode_profile(builder.build(), "CPU", DecodeLimits())
    assert "a?b" in decoded.tree.frames.strings


def test_without_samples_the_builder_is_empty() -> None:
    assert ProfileBuilder(CPU, WorkBudget(1000)).is_empty
    assert not built().is_empty
