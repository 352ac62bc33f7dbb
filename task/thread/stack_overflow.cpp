#include "task/thread/stack_overflow.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace photon::task {

namespace {

// A handler of signals reads it: in a shared library, the usual way to such a word may allocate.
[[gnu::tls_model("initial-exec")]] thread_local constinit OverflowWatch* of_thread = nullptr;

void on_fault(int number, siginfo_t* info, void* context);

struct sigaction install() noexcept {
  struct sigaction own = {};
  own.sa_sigaction = on_fault;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&own.sa_mask);
  struct sigaction before = {};
  sigaction(SIGSEGV, &own, &before);
  return before;
}

// What handled it before; the first call puts the handler there.
const struct sigaction& earlier() noexcept {
  static const struct sigaction before = install();
  return before;
}

// The instruction is tried again when the handler returns, and ends the process.
void fall_through() noexcept {
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigemptyset(&usual.sa_mask);
  sigaction(SIGSEGV, &usual, nullptr);
}

// A signal that somebody has sent, by raise() or kill(), has no address, and no instruction that
// would bring it again.
void on_fault(int number, siginfo_t* info, void* context) {
  const bool is_sent = info->si_code <= 0;
  for (const OverflowWatch* watch = of_thread; watch != nullptr && !is_sent; watch = watch->outer())
    if (watch->has_told(info->si_addr)) return fall_through();
  const struct sigaction& before = earlier();
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(number);
  if (is_sent && before.sa_handler == SIG_IGN) return;
  fall_through();
  if (is_sent) static_cast<void>(::raise(number));  // it is not blocked (SA_NODEFER)
}

// A line of text, by what a handler of signals may call.
class Line {
 public:
  void add(const char* text) noexcept {
    while (*text != '\0' && size_ != sizeof text_) text_[size_++] = *text++;
  }
  void add(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count != 0 && size_ != sizeof text_) text_[size_++] = digits[--count];
  }
  void write() const noexcept {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, size_);
  }

 private:
  char text_[200];
  std::size_t size_ = 0;
};

}  // namespace

OverflowWatch::OverflowWatch(const Stacks& stacks, std::uint32_t pe)
    : stacks_(stacks), pe_(pe), outer_(of_thread) {
  static_cast<void>(earlier());
  stack_t current = {};
  sigaltstack(nullptr, &current);
  if ((current.ss_flags & SS_DISABLE) != 0) {
    const std::size_t bytes =
        std::max(kSignalStackBytes, static_cast<std::size_t>(::sysconf(_SC_SIGSTKSZ)));
    signal_stack_ = std::make_unique<std::byte[]>(bytes);
    stack_t own = {};
    own.ss_sp = signal_stack_.get();
    own.ss_size = bytes;
    sigaltstack(&own, nullptr);
  }
  of_thread = this;
}

OverflowWatch::~OverflowWatch() {
  OverflowWatch** at = &of_thread;
  while (*at != nullptr && *at != this) at = &(*at)->outer_;
  if (*at == this) *at = outer_;
  if (!signal_stack_) return;
  stack_t current = {};
  sigaltstack(nullptr, &current);
  if (current.ss_sp != signal_stack_.get()) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

bool OverflowWatch::has_told(const void* address) const noexcept {
  std::uint32_t thread = 0;
  std::size_t stack_bytes = 0;
  if (!stacks_.find_guard(address, thread, stack_bytes)) return false;
  Line line;
  line.add("photon task: PE ");
  line.add(pe_);
  line.add(": thread ");
  line.add(thread);
  line.add(" has overflowed its stack of ");
  line.add(stack_bytes);
  line.add(" bytes: give it more by stack_bytes\n");
  line.write();
  return true;
}

}  // namespace photon::task
