"""Profile of native code, with and without symbols, for tests of mappings."""

from tests.profiles.pprofs import PprofBuilder

BUILD_ID = "3f2a9c51d0e84b7796a1c2d3e4f5061728394a5b"
LIBRARY, PROGRAM = "/usr/lib/libfoo.so.1", "/usr/bin/app"
BASE = 0x7F12_3456_7000  # where the library is in memory


def native_profile(base: int = BASE, build_id: str = BUILD_ID) -> bytes:
    """Return a profile of a program without a build id and a library that is loaded at `base`.

    The library has one function with symbols, and the addresses 0x1234 and 0x5678 without.
    """
    builder = PprofBuilder()
    message, text = builder.message, builder.string
    message.sample_type.add(type=text("cpu"), unit=text("nanoseconds"))
    main, work = builder.frame("main", "main.c", 3), builder.frame("foo_work", "foo.c", 41)
    message.mapping.add(id=1, memory_start=0x400000, memory_limit=0x500000, filename=text(PROGRAM))
    message.mapping.add(
        id=2,
        memory_start=base,
        memory_limit=base + 0x9000,
        file_offset=0x1000,
        filename=text(LIBRARY),
        build_id=text(build_id),
    )
    message.location[0].mapping_id, message.location[1].mapping_id = 1, 2
    message.location.add(id=11, mapping_id=2, address=base + 0x234)
    message.location.add(id=12, mapping_id=2, address=base + 0x4678)
    message.location.add(id=13, mapping_id=1, address=0x400777)
    message.location.add(id=14, address=0x99)
    for number, stack in enumerate(([work, main], [11, work, main], [12, 11, main], [13], [14])):
        message.sample.add(location_id=stack, value=[10**number])
    return bytes(message.SerializeToString())
