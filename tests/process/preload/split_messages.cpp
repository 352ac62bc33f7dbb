// To be preloaded: the messages by which libfabric's tcp sets up a connection go in two parts, the
// second one a second later. That is what the kernel makes of them while the route to the peer has
// just gone: it sends segments of 36 bytes then (docs/ofi.md, "Connections that hang").
//
//   SPLIT_MESSAGES="request 1": of each process the second request; or "answer 0", the first answer
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr std::size_t kFirstBytes = 36;
constexpr std::size_t kRequestBytes = 56, kAnswerBytes = 48;  // of ofi_rxm over tcp, 1.17

using Send = ssize_t (*)(int, const void*, std::size_t, int);

Send real_send() {
  static const auto real = reinterpret_cast<Send>(::dlsym(RTLD_NEXT, "send"));
  return real;
}

bool is_to_be_cut(const void* bytes, std::size_t size) {
  static std::atomic<int> seen = 0;
  static const char* const asked = std::getenv("SPLIT_MESSAGES");
  if (asked == nullptr || (size != kRequestBytes && size != kAnswerBytes)) return false;
  std::array<unsigned char, 2> head{};  // its version and its kind
  std::memcpy(head.data(), bytes, head.size());
  const std::string kind = size == kRequestBytes ? "request" : "answer";
  if (head[0] != 3 || head[1] != (size == kRequestBytes ? 0 : 1)) return false;
  if (std::string(asked).rfind(kind, 0) != 0) return false;
  return seen.fetch_add(1) == std::atoi(asked + kind.size());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ssize_t send(int fd, const void* bytes,
                                                               std::size_t size, int flags) {
  if (!is_to_be_cut(bytes, size)) return real_send()(fd, bytes, size, flags);
  std::fprintf(stderr, "a message of %zu bytes goes in two parts\n", size);
  if (real_send()(fd, bytes, kFirstBytes, flags) != kFirstBytes) return -1;
  std::string rest(static_cast<const char*>(bytes) + kFirstBytes, size - kFirstBytes);
  std::thread([again = ::dup(fd), rest = std::move(rest), flags] {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // how long the link takes
    static_cast<void>(real_send()(again, rest.data(), rest.size(), flags));
    ::close(again);
  }).detach();
  return static_cast<ssize_t>(size);
}
