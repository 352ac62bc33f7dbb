// Copies between processes by the kernel (CMA), refused as by the seccomp filter of a sandbox.
// Owner: none. Threads: the calling one, and those that it starts; `flags` of seccomp(2) say more.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace photon::test {

// With that errno, for good. False: there can be no filter here; errno says why.
inline bool refuse_copies(int number, unsigned flags = 0) {
  const unsigned refuse = SECCOMP_RET_ERRNO | static_cast<unsigned>(number);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, refuse),
  };
  const sock_fprog program = {sizeof code / sizeof code[0], code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

}  // namespace photon::test
