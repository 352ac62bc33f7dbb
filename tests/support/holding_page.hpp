// A page that holds up whoever writes to it first, in the midst of his copy, until it is let go.
// Threads: all; one such page at a time in a process, as its signal's handler is the process's.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>

namespace photon::test {

class HoldingPage {
 public:
  // Owns `pages_count` pages; the last one holds.
  explicit HoldingPage(std::size_t pages_count)
      : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        size_bytes_(pages_count * page_bytes_) {
    void* all =
        ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<unsigned char*>(all);
    if (::mprotect(page(), page_bytes_, PROT_NONE) != 0) throw std::bad_alloc();
    active_ = this;
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) { faulted(*info); };
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~HoldingPage() {
    ::sigaction(SIGSEGV, &before_, nullptr);
    active_ = nullptr;
    ::munmap(begin_, size_bytes_);
  }
  HoldingPage(const HoldingPage&) = delete;
  HoldingPage& operator=(const HoldingPage&) = delete;

  unsigned char* data() { return begin_; }
  std::size_t size() const { return size_bytes_; }
  // For the test's other threads, which do something meanwhile.
  void await_held(const std::function<void()>& meanwhile) const {
    while (!is_held_) meanwhile();
  }
  void let_go() { is_let_go_ = true; }

 private:
  unsigned char* page() { return begin_ + size_bytes_ - page_bytes_; }
  // As any crash if it is not our page: the default action comes when the access is tried again.
  static void faulted(const siginfo_t& info) {
    HoldingPage* held = active_;
    const auto at = reinterpret_cast<std::uintptr_t>(info.si_addr);
    const auto begin = held == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(held->page());
    if (held == nullptr || at < begin || at >= begin + held->page_bytes_) {
      ::signal(SIGSEGV, SIG_DFL);
      return;
    }
    held->is_held_ = true;
    while (!held->is_let_go_) ::sched_yield();
    if (::mprotect(held->page(), held->page_bytes_, PROT_READ | PROT_WRITE) != 0) ::_exit(70);
  }

  static inline std::atomic<HoldingPage*> active_ = nullptr;
  const std::size_t page_bytes_;
  const std::size_t size_bytes_;
  unsigned char* begin_ = nullptr;
  struct sigaction before_ {};
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_let_go_ = false;
};

}  // namespace photon::test
