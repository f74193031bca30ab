#include "interpreter/peek.h"

#include <sys/syscall.h>
#include <unistd.h>

static pid_t own_pid;

void peek_set_pid(void) { own_pid = getpid(); }

bool peek_many(const struct iovec *to, const struct iovec *from, unsigned n, size_t total) {
  return syscall(SYS_process_vm_readv, own_pid, to, (unsigned long)n, from, (unsigned long)n, 0UL) == (long)total;
}

bool peek(void *to, uintptr_t from, size_t n) {
  struct iovec local = {to, n}, remote = {(void *)from, n};
  return peek_many(&local, &remote, 1, n);
}

bool poke(uintptr_t to, const void *from, size_t n) {
  struct iovec local = {(void *)(uintptr_t)from, n}, remote = {(void *)to, n};
  return syscall(SYS_process_vm_writev, own_pid, &local, 1UL, &remote, 1UL, 0UL) == (long)n;
}
