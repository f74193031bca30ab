"""Seccomp filter that rejects one system call, like that of a strict container."""

import ctypes
import errno
import platform
import struct

NUMBERS = {
    "x86_64": {"process_vm_readv": 310, "process_vm_writev": 311, "timer_create": 222},
    "aarch64": {"process_vm_readv": 270, "process_vm_writev": 271, "timer_create": 107},
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, DENY = 0x7FFF0000, 0x00050000


def deny(name: str) -> None:
    """Reject the system call with EPERM from now on, in this thread and threads that it starts."""
    number = NUMBERS[platform.machine()][name]
    steps = [
        (LOAD, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, number),
        (RETURN, 0, 0, DENY | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.c_char_p(program), 0, 0) == 0
