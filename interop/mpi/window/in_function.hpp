// Whether this thread is inside a function of the program that we have called: an operation, or a
// handler of active messages. Such a function may not call what waits for other ranks.
//
// Owner: the stack of whoever calls the function. Threads: each has its own.
#pragma once

namespace photon::mpi {

class InFunction {
 public:
  InFunction() noexcept { ++depth(); }
  ~InFunction() { --depth(); }
  InFunction(const InFunction&) = delete;
  InFunction& operator=(const InFunction&) = delete;

  static bool is_here() noexcept { return depth() != 0; }

 private:
  static int& depth() noexcept {
    // Without the model each look would be a call, in locks of some 20 ns.
    [[gnu::tls_model("initial-exec")]] static thread_local constinit int all = 0;
    return all;
  }
};

}  // namespace photon::mpi
