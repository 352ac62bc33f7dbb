// Two ranks of which one is killed while payloads of active messages are read. Arguments:
//
//   pulled source|target|gone SETTING=VALUE ...
//
// source: rank 0 sends and is killed by rank 1 inside a header handler, between a header and its
// payload; each landing that was named is told of its end once, and nothing is written to it
// afterwards. target: rank 1 is killed while it reads; each send ends at rank 0 with an error, and
// the payload can be unmapped. gone: rank 0 takes the pages of payloads away that it has lent; rank
// 1 hears it as the end of their landings, and goes on. Exit status 0: all was as it should be.
#include <photon/am.h>
#include <photon/photon.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "forked_job.hpp"

namespace {

constexpr std::size_t kBytes = 3u << 20;
constexpr std::size_t kMessages = 12;
constexpr std::size_t kKillsAt = 5;  // header handlers that have run
constexpr std::int64_t kQuietUs = 300'000;
constexpr std::uint32_t kId = 3;

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

class Rank {
 public:
  Rank(ph_context* context, std::string mode, pid_t other)
      : context_(context), me_(ph_rank_of(context)), mode_(std::move(mode)), other_(other) {}

  int run() {
    landings_.resize(kMessages);
    is("register", ph_am_register(context_, kId, handle, this));
    is("barrier", ph_barrier(context_));
    if (me_ == 0)
      send();
    else
      receive();
    const ph_status left = ph_finalize(context_);
    say(left == PH_OK || (mode_ != "gone" && left == PH_ERR_PEER), "finalize");
    ph_context_destroy(context_);
    return good_ ? 0 : 1;
  }

 private:
  struct Landed {
    std::vector<unsigned char> memory;
    int ends = 0;
    ph_status status = PH_OK;
  };

  bool say(bool good, const std::string& what) {
    if (!good) std::fprintf(stderr, "rank %u: %s\n", me_, what.c_str());
    good_ = good_ && good;
    return good;
  }
  bool is(const std::string& what, ph_status found, ph_status expected = PH_OK) {
    ph_error error = {};
    ph_last_error(context_, &error);
    return say(found == expected, what + ": " + ph_status_text(found) + " (" + error.text + ")");
  }

  // ---- the source
  void* map() {
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) std::exit(3);
    std::memset(memory, 0x5a, kBytes);
    return memory;
  }
  void send() {
    std::vector<void*> payloads;
    std::vector<ph_request> requests(kMessages, PH_REQUEST_NONE);
    for (ph_request& request : requests) {
      payloads.push_back(map());
      ph_am_args args = {};
      args.size = sizeof args;
      args.id = kId;
      args.flags = PH_DELIVERED;
      args.payload = payloads.back();
      args.payload_bytes = kBytes;
      args.request = &request;
      const ph_status status = ph_am_send(context_, 1, &args);
      say(status == PH_OK || (mode_ == "target" && status == PH_ERR_PEER), "send");
    }
    if (mode_ == "gone")  // the target is told when the second half is gone
      for (std::size_t i = kMessages / 2; i < kMessages; ++i)
        ::mprotect(payloads[i], kBytes, PROT_NONE);  // nothing else comes to lie there
    for (std::size_t i = 0; i < kMessages; ++i) {
      const ph_status status = ph_wait_request(context_, &requests[i], nullptr, 10'000'000);
      if (mode_ == "target") say(status == PH_OK || status == PH_ERR_PEER, "its end");
      if (mode_ != "gone") continue;
      const bool is_gone = i >= kMessages / 2;
      say((status == PH_OK && !is_gone) || (is_gone && status < PH_OK && status != PH_ERR_PEER),
          "the end of " + std::to_string(i) + ": " + ph_status_text(status));
    }
    if (mode_ == "target")
      for (void* const payload : payloads) ::munmap(payload, kBytes);
  }

  // ---- the target
  static ph_status handle(void* user, const ph_am_message* message, ph_am_landing* landing) {
    return static_cast<Rank*>(user)->begin(*message, *landing);
  }
  static ph_status done(void* argument, const ph_am_message* message, const ph_am_part* part) {
    auto& landed = *static_cast<Landed*>(argument);
    static_cast<void>(message);
    if (part->is_last != 0) ++landed.ends;
    if (part->status != PH_OK) landed.status = part->status;
    return PH_OK;
  }
  ph_status begin(const ph_am_message& message, ph_am_landing& landing) {
    Landed& landed = landings_[begun_++];
    landed.memory.resize(message.payload_bytes);
    landing.buffer = landed.memory.data();
    landing.buffer_bytes = landed.memory.size();
    landing.chunk_bytes = begun_ % 2 == 0 ? 0 : 200'000;
    landing.done = done;
    landing.argument = &landed;
    if (begun_ == kKillsAt && mode_ == "source") ::kill(other_, SIGKILL);
    if (begun_ == kKillsAt && mode_ == "target") ::raise(SIGKILL);
    return PH_OK;
  }
  std::size_t ended() const {
    std::size_t count = 0;
    for (const Landed& one : landings_) count += one.ends > 0 ? 1 : 0;
    return count;
  }
  void poll_for(std::int64_t us) {
    for (const std::int64_t until = now_us() + us; now_us() < until;) ph_am_poll(context_, 0);
  }
  void receive() {
    const std::int64_t until = now_us() + 15'000'000;
    const std::size_t least = mode_ == "gone" ? kMessages : kKillsAt;
    while ((begun_ < least || ended() < begun_) && now_us() < until) ph_am_poll(context_, 0);
    poll_for(kQuietUs);
    std::vector<std::vector<unsigned char>> copies;
    for (const Landed& one : landings_) copies.push_back(one.memory);
    poll_for(kQuietUs);
    for (std::size_t i = 0; i < begun_; ++i) {
      const Landed& one = landings_[i];
      say(one.ends == 1, "ends of a landing: " + std::to_string(one.ends));
      say(one.memory == copies[i], "a landing was written to behind its end");
      const bool is_whole = one.status == PH_OK;
      if (is_whole)
        for (const unsigned char byte : one.memory) {
          if (say(byte == 0x5a, "a landing that is whole has other bytes")) continue;
          break;
        }
      if (mode_ == "source") say(is_whole || one.status == PH_ERR_PEER, "the status of an end");
      if (mode_ == "gone") say(is_whole == (i < kMessages / 2), "the status of an end");
    }
    if (mode_ == "source")
      say(landings_[kKillsAt - 1].status == PH_ERR_PEER, "what its dead source had not sent");
  }

  ph_context* context_;
  const ph_rank me_;
  const std::string mode_;
  const pid_t other_;
  std::vector<Landed> landings_;
  std::size_t begun_ = 0;
  bool good_ = true;
};

int be_rank(const ph_bootstrap& bootstrap, int count, char** arguments) {
  std::vector<ph_option> options;
  for (int i = 2; i < count; ++i) {
    char* const value = std::strchr(arguments[i], '=');
    if (value == nullptr) return 2;
    *value = 0;
    options.push_back({arguments[i], value + 1});
  }
  pid_t own = ::getpid();
  pid_t all[2] = {};
  if (bootstrap.allgather(bootstrap.user, &own, all, sizeof own) != 0) return 2;
  const ph_config config = {sizeof config, &bootstrap, options.data(), options.size()};
  ph_context* context = nullptr;
  ph_error error = {};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  return Rank(context, arguments[1], all[1 - bootstrap.rank]).run();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string mode = arguments[1];
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const std::vector<int> ends = photon::test::fork_ranks(
      2, [&](const ph_bootstrap& bootstrap) { return be_rank(bootstrap, count, arguments); });
  for (ph_rank rank = 0; rank < 2; ++rank) {
    const bool dies = (mode == "source" && rank == 0) || (mode == "target" && rank == 1);
    const bool is_good =
        dies ? WIFSIGNALED(ends[rank]) && WTERMSIG(ends[rank]) == SIGKILL : ends[rank] == 0;
    if (!is_good) return 1;
  }
  return 0;
}
