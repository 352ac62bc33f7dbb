// A name of the library that is one jump to where its entry points, so that it can be changed while
// the process runs, and leaves registers and stack as they are.
// Owner: the file that exports the name, which is compiled without optimisation at link time: that
// sees nothing of assembler's text. Threads: any.
#pragma once

#if defined(__x86_64__)
#define PHOTON_MPI_JUMP(entry) "  jmp *" entry "(%rip)\n"
#elif defined(__aarch64__)
#define PHOTON_MPI_JUMP(entry) \
  "  adrp x16, " entry "\n  ldr x16, [x16, :lo12:" entry "]\n  br x16\n"
#else
#error "a jump through memory is needed here: see PHOTON_MPI_JUMP"
#endif

// `symbol`, a text, becomes a function that jumps to where `entry`, a name, points.
#define PHOTON_MPI_EXPORT(symbol, entry)                                           \
  asm(".text\n.globl " symbol "\n.type " symbol ", @function\n.p2align 4\n" symbol \
      ":\n" PHOTON_MPI_JUMP(#entry) ".size " symbol ", .-" symbol "\n")
