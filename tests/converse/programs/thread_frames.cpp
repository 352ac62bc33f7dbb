// Frames of threads: they are forgotten when a thread is ended, whatever stands in them, exceptions
// are each thread's own, and objects in variables of threads stay where they are.
#include <stdexcept>
#include <string>
#include <vector>

#include "all_done.h"

namespace {

struct Noted {
  int& count;
  explicit Noted(int& noted) : count(noted) {}
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { ++count; }
};

struct Ends {
  int left = 0;    // frames
  int caught = 0;  // exceptions
};

void waits(void* user) {
  const Noted noted(static_cast<Ends*>(user)->left);
  CthSuspend();
  CmiAbort("a thread that was freed has run on");
}

void exits(void* user) noexcept {
  const Noted noted(static_cast<Ends*>(user)->left);
  try {
    CthExit();
  } catch (...) {
    CmiAbort("CthExit() was caught");
  }
}

CpvStaticDeclare(int, suspend_handler);

void suspend_in_handler(void* message) {
  CmiFree(message);
  CthSuspend();
  CmiAbort("a handler of a thread that was freed has run on");
}

void handles(void* user) {
  const Noted noted(static_cast<Ends*>(user)->left);
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CpvAccess(suspend_handler));
  CmiHandleMessage(message);
}

void raised(void* /*user*/, double /*time*/) { CthSuspend(); }

void raises(void* user) {
  const Noted noted(static_cast<Ends*>(user)->left);
  CcdCallOnCondition(CcdUSER, raised, nullptr);
  CcdRaiseCondition(CcdUSER);
}

void throws(void* user) {
  Ends& ends = *static_cast<Ends*>(user);
  for (int i = 0; i < 10; ++i) {
    const std::string words = "thread " + std::to_string(i);
    try {
      CthYield();
      throw std::runtime_error(words);
    } catch (const std::runtime_error& error) {
      CthYield();  // inside of the handler of the exception
      CmiAssert(error.what() == words);
      ++ends.caught;
    }
  }
}

void throw_in_handler(void* message) {
  CmiFree(message);
  throw std::runtime_error("of a handler");
}

void throw_in_function(void* /*user*/, double /*time*/) { throw 17; }

void expect_exceptions_through_calls() {
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CmiRegisterHandler(throw_in_handler));
  int caught = 0;
  try {
    CmiHandleMessage(message);
  } catch (const std::runtime_error&) {
    ++caught;
  }
  CcdCallOnCondition(CcdUSER + 1, throw_in_function, nullptr);
  try {
    CcdRaiseCondition(CcdUSER + 1);
  } catch (int) {
    ++caught;
  }
  CmiAssert(caught == 2);
}

void expect_ends() {
  Ends ends;
  std::vector<CthThread> waiting;
  for (int i = 0; i < 20; ++i) {
    for (const CthVoidFn function : {waits, handles, raises}) {
      waiting.push_back(CthCreate(function, &ends, 0));
      CthAwaken(waiting.back());
    }
    CthAwaken(CthCreate(exits, &ends, 0));
    CthAwaken(CthCreate(throws, &ends, 0));
  }
  for (int i = 0; i < 100; ++i) CthYield();
  CmiAssert(ends.left == 0 && ends.caught == 200);
  for (CthThread thread : waiting) CthFree(thread);
  CmiAssert(ends.left == 0);
}

CtvStaticDeclare(int, first);
CtvStaticDeclare(int, second);

void uses_variables(void* user) {
  int* const before = &CtvAccess(first);
  *before = 3;
  CtvInitialize(int, second);
  CmiAssert(CtvAccess(second) == 0);
  CtvAccess(second) = 4;
  CmiAssert(&CtvAccess(first) == before && *before == 3);
  ++*static_cast<int*>(user);
}

void expect_addresses_that_stay() {
  int done = 0;
  CtvInitialize(int, first);
  CthAwaken(CthCreate(uses_variables, &done, 0));
  CthYield();
  CmiAssert(done == 1);
  CmiAssert(CtvAccess(first) == 0 && CtvAccess(second) == 0);
}

void start(int, char**) {
  all_done_register();
  CpvInitialize(int, suspend_handler);
  CpvAccess(suspend_handler) = CmiRegisterHandler(suspend_in_handler);
  expect_ends();
  expect_exceptions_through_calls();
  expect_addresses_that_stay();
  all_done_say();
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
