// Late stores: rank 0 grants the buffers of a mailbox to rank 1 ahead of its messages
// (PH_MAILBOX_GRANT_AHEAD), takes them back at any moment and posts them again at once; rank 1
// stores into them while it is stopped, goes on, and is killed at last.
//
//   late_grants TAKE_BACKS [--unfenced]
//
// Job after job until so many buffers were taken back. Each
// message that counts is there, whole and once; what was handed over does not change until it is
// posted again; and each message has counted or was refused, as its sender was told. A source is
// filled with something else as soon as it is its sender's again.
//
// --unfenced: keys stay good and copies are not looked for, which has to be found.
// Exit status 0: so it was; 3: old bytes were found.
#include <photon/photon.h>

#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>

#include "rank_calls.hpp"
#include "unfenced_context.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kBuffers = 6;
constexpr std::uint64_t kTakeBacks = 1000;  // of one job
constexpr std::uint32_t kMost = 100'000;    // messages of one job
constexpr std::size_t kUnderWay = 8;
constexpr std::uint64_t kAddress = 7;
constexpr int kFound = 3;
constexpr unsigned char kEmpty = 0xee;
constexpr std::int64_t kVerdictUs = 200'000'000;

enum class Told : std::uint8_t { nothing, sent, landed, refused };

struct Shared {
  std::array<pid_t, 2> pids{};
  std::array<std::atomic<Told>, kMost> told{};
  std::array<std::uint8_t, kMost> counted{};
};

struct Message {
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
};

std::uint64_t size_of(std::uint64_t number) {
  constexpr std::array<std::uint64_t, 6> kSizes = {4096, 200'000, 70'001, 262'144, 8192, 131'072};
  return kSizes[(number + number / 6) % kSizes.size()];
}

unsigned char byte_at(std::uint64_t number, std::uint64_t at) {
  const Message head{number, size_of(number)};
  if (at < sizeof head) return reinterpret_cast<const unsigned char*>(&head)[at];
  return static_cast<unsigned char>(number * 31 + at * 7 + (at >> 8));
}

// ---- the source

int send_all(Shared& shared, ph_context* context) {
  std::array<std::vector<unsigned char>, kUnderWay> sources;
  std::array<ph_request, kUnderWay> requests{};
  requests.fill(PH_REQUEST_NONE);
  for (std::uint32_t number = 0; number < kMost; ++number) {
    const std::size_t slot = number % kUnderWay;
    if (number >= kUnderWay) {
      ph_result result{};
      const ph_status status = ph_wait_request(context, &requests[slot], &result, kVerdictUs);
      shared.told[number - kUnderWay] = status == PH_OK ? Told::landed : Told::refused;
    }
    std::vector<unsigned char>& source = sources[slot];
    std::fill(source.begin(), source.end(), 0xdd);
    source.resize(size_of(number));
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = byte_at(number, i);
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kAddress;
    args.source = source.data();
    args.size_bytes = source.size();
    args.epoch = PH_ANY_EPOCH;
    args.request = &requests[slot];
    shared.told[number] = Told::sent;
    ph_status status = PH_AGAIN;
    while ((status = ph_mailbox_put(context, 0, &args)) == PH_AGAIN)
      require(context, ph_flush(context, 0, kVerdictUs), "flush");
    require(context, status, "put");
  }
  return 1;  // it is killed before
}

// ---- the owner

class Owner {
 public:
  Owner(Shared& shared, ph_context* context)
      : shared_(shared), context_(context), random_(std::random_device()()) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kAddress;
    args.threshold = 1;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.flags = PH_MAILBOX_GRANT_AHEAD;
    args.source = 1;
    require(context_, ph_mailbox_open(context_, &args, &box_), "open");
    for (std::size_t i = 0; i < kBuffers; ++i) post(i);
  }

  void turn() {
    for (std::uint64_t left = random_() % 200; left > 0; --left)
      static_cast<void>(take_all());  // progress, too
    if (random_() % 2 == 0) {
      const ph_status status = ph_mailbox_inc_epoch(context_, box_);
      if (status != PH_OK && status != PH_AGAIN) fail(context_, "inc_epoch", status);
    }
    if (random_() % 50 == 0) {
      is_stopped_ = !is_stopped_;
      ::kill(shared_.pids[1], is_stopped_ ? SIGSTOP : SIGCONT);
    }
  }
  void finish() {
    ::kill(shared_.pids[1], SIGKILL);
    require(context_, ph_mailbox_close(context_, box_), "close");
    is_open_ = false;
    while (take_all() != PH_ERR_STATE) {
    }
    for (const Buffer& buffer : buffers_) check_seen(buffer);
  }
  std::uint64_t take_backs() const { return take_backs_; }

 private:
  struct Buffer {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(kBufferBytes);
    std::vector<unsigned char> seen;  // when it was handed over; empty: it is posted
  };

  // The source may be stopped, and would be waited for.
  [[noreturn]] void found(const char* what) const {
    std::fprintf(stderr, "%s\n", what);
    ::kill(shared_.pids[1], SIGKILL);
    std::_Exit(kFound);
  }
  void post(std::size_t index) {
    Buffer& buffer = buffers_[index];
    check_seen(buffer);
    buffer.seen.clear();
    std::fill(buffer.bytes.begin(), buffer.bytes.end(), kEmpty);
    ph_mailbox_buffer args{};
    args.size = sizeof args;
    args.data = buffer.bytes.data();
    args.size_bytes = kBufferBytes;
    args.cookie = index;
    require(context_, ph_mailbox_post(context_, box_, &args), "post");
  }
  void check_seen(const Buffer& buffer) const {
    if (!buffer.seen.empty() && buffer.seen != buffer.bytes)
      found("old bytes in a buffer that was handed over");
  }
  ph_status take_all() {
    for (;;) {
      ph_mailbox_event event{};
      const ph_status status = ph_mailbox_take(context_, box_, &event);
      if (status != PH_OK) return status;
      Buffer& buffer = buffers_[event.cookie];
      if (event.operations != 0) check(buffer, event.size_bytes);
      take_backs_ += event.operations == 0;
      buffer.seen = buffer.bytes;
      if (is_open_) post(event.cookie);
    }
  }
  void check(const Buffer& buffer, std::uint64_t size_bytes) {
    Message head;
    std::memcpy(&head, buffer.bytes.data(), sizeof head);
    if (head.number >= kMost || head.size_bytes != size_bytes ||
        size_bytes != size_of(head.number) || shared_.told[head.number] == Told::nothing)
      found("bytes counted that no message has");
    for (std::uint64_t i = 0; i < size_bytes; ++i)
      if (buffer.bytes[i] != byte_at(head.number, i)) found("a message counted with other bytes");
    if (shared_.counted[head.number]++ != 0) found("a message counted twice");
  }

  Shared& shared_;
  ph_context* const context_;
  std::minstd_rand random_;
  ph_mailbox box_{};
  bool is_open_ = true;
  bool is_stopped_ = false;
  std::array<Buffer, kBuffers> buffers_;
  std::uint64_t take_backs_ = 0;
};

// ---- jobs

int run(Shared& shared, const ph_bootstrap& bootstrap, std::uint64_t take_backs, bool is_fenced) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also of one that is stopped
  ph_context* const context =
      open_context(bootstrap, {{{"mailbox_carried_max", "4096"}, {"log", "error"}}}, is_fenced);
  const pid_t mine = ::getpid();
  require(context, ph_allgather(context, &mine, shared.pids.data(), sizeof mine), "allgather");
  if (bootstrap.rank == 1) return send_all(shared, context);
  Owner owner(shared, context);
  while (owner.take_backs() < take_backs) owner.turn();
  owner.finish();
  const ph_status status = ph_finalize(context);
  ph_context_destroy(context);
  return status == PH_OK || status == PH_ERR_PEER ? 0 : 1;
}

// Whether each message ended as its sender was told.
bool is_right(const Shared& shared) {
  for (std::uint32_t number = 0; number < kMost; ++number) {
    const Told told = shared.told[number];
    const bool is_known = told == Told::landed || told == Told::refused;
    if (is_known ? shared.counted[number] == (told == Told::landed ? 1 : 0)
                 : shared.counted[number] <= (told == Told::sent ? 1 : 0))
      continue;
    std::fprintf(stderr, "message %u counted %u times, its sender was told %d\n", number,
                 shared.counted[number], static_cast<int>(told));
    return false;
  }
  return true;
}

int run_all(std::uint64_t take_backs, bool is_fenced) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  for (std::uint64_t so_far = 0; so_far < take_backs; so_far += kTakeBacks) {
    auto* const shared = new (memory) Shared{};
    const auto statuses = fork_ranks(2, [&](const ph_bootstrap& bootstrap) {
      return run(*shared, bootstrap, std::min(kTakeBacks, take_backs - so_far), is_fenced);
    });
    if (WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == kFound) return kFound;
    if (statuses[0] != 0 || statuses[1] != SIGKILL || !is_right(*shared)) return 1;
  }
  std::printf("%llu take-backs of granted buffers\n", static_cast<unsigned long long>(take_backs));
  return 0;
}

}  // namespace
}  // namespace photon::test

int main(int count, char** arguments) {
  const bool is_unfenced = count == 3 && std::string(arguments[2]) == "--unfenced";
  if (count != 2 && !is_unfenced) return 2;
  return photon::test::run_all(std::strtoull(arguments[1], nullptr, 10), !is_unfenced);
}
