"""Texts that stand for binaries and their addresses."""

import pytest

from profiles.engine.pprof.binaries import (
    Binary,
    FileAddress,
    find_address,
    parse_mapping,
    read_build_id,
)

LIBC = Binary("abc123", "/usr/lib/libc.so.6")


@pytest.mark.parametrize(
    "binary",
    [LIBC, Binary("abc123", ""), Binary("", "/a b\tc"), Binary("", "nginx"), Binary("", "")],
)
def test_mapping_is_the_binary(binary: Binary) -> None:
    if any(binary):
        assert parse_mapping(binary.mapping) == binary
    else:
        assert not binary.mapping


@pytest.mark.parametrize(
    ("text", "binary"),
    [
        ("/usr/bin/app", Binary("", "/usr/bin/app")),
        ("app.exe", Binary("", "app.exe")),
        ("abc123", Binary("abc123", "")),
    ],
)
def test_mappings_of_version_1_are_a_path_or_a_build_id(text: str, binary: Binary) -> None:
    assert parse_mapping(text) == binary


@pytest.mark.parametrize(
    ("text", "build_id"),
    [("abc", "abc"), ("a/b-C_/d", "a/b-C_/d"), ("a b", ""), ("a\tb", ""), ("x" * 256, "")],
)
def test_build_ids_have_no_spaces(text: str, build_id: str) -> None:
    assert read_build_id(text) == build_id


@pytest.mark.parametrize(
    ("name", "file", "mapping", "address"),
    [
        ("libc.so.6+0x1f", "[build-id abc123]", LIBC.mapping, FileAddress(LIBC, 0x1F)),
        (
            "libc.so.6+0x1f",
            "[build-id abc123]",
            "",
            FileAddress(Binary("abc123", "libc.so.6"), 0x1F),
        ),
        ("?+0x1f", "[build-id abc123]", "", FileAddress(Binary("abc123", ""), 0x1F)),
        ("app+0x1f", "", "/bin/app", FileAddress(Binary("", "/bin/app"), 0x1F)),
        ("0x1f", "", "", FileAddress(Binary("", ""), 0x1F)),
        ("app+0xffffffffffffffff", "", "/bin/app", FileAddress(Binary("", "/bin/app"), 2**64 - 1)),
    ],
)
def test_generated_function_names_are_parsed_as_addresses(
    name: str, file: str, mapping: str, address: FileAddress
) -> None:
    assert find_address(name, file, mapping) == address


@pytest.mark.parametrize(
    ("name", "file", "mapping"),
    [
        ("main", "main.c", LIBC.mapping),
        ("libc.so.6+0x1f", "", LIBC.mapping),  # of another build than the mapping's
        ("libc.so.6+0x1f", "[build-id other]", LIBC.mapping),
        ("do_syscall_64+0x1f", "", "/boot/vmlinux"),  # a function and an offset in it
        ("do_syscall_64+0x1f", "", ""),
        ("libc.so.6+0x1F", "[build-id abc123]", LIBC.mapping),
        ("libc.so.6+0x0", "[build-id abc123]", LIBC.mapping),
        ("libc.so.6+0x12345678901234567", "[build-id abc123]", LIBC.mapping),
        ("0x1f", "", "/bin/app"),
        ("0x1f", "a.c", ""),
    ],
)
def test_other_function_names_are_no_addresses(name: str, file: str, mapping: str) -> None:
    assert find_address(name, file, mapping) is None
