// Late writes: rank 0 has a mailbox whose buffers it takes back at any moment, with messages
// landing in them, and posts again at once; ranks 1 to 3 send carried and large messages. Rank 1 is
// killed somewhere in the middle, rank 2 is stopped and goes on again and again.
//
//   late_writes TAKE_BACKS [--unfenced]
//
// It goes on, job after job, until so many buffers were taken back with a message half in them.
// Each byte of each buffer is looked at: what has counted is there, whole and once, and of all else
// only the message that was landing when the buffer was taken back may have left bytes. Each
// message has counted or was refused, as its sender was told. A source is filled with something
// else as soon as it is its sender's again. The setting PHOTON_TRANSPORT says over what.
//
// --unfenced: the mailbox gives nothing up (simtest/unfenced.hpp), which has to be found.
// Exit status 0: so it was; 3: old bytes were found.
#include <photon/photon.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include "late_senders.hpp"
#include "rank_calls.hpp"
#include "unfenced_context.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kBufferBytes = 192 << 10;
constexpr std::size_t kBuffers = 5;
constexpr std::uint64_t kTakeBacks = 2000;  // of one job, at most
constexpr unsigned kPatience = 200;         // turns, until rank 2 has to go on
constexpr unsigned char kEmpty = 0xee;

using Random = std::minstd_rand;

// ---- contexts

// Small pieces: a large message takes many turns to land.
ph_context* open_late(const ph_bootstrap& bootstrap, bool is_fenced) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also of one that is stopped
  return open_context(bootstrap,
                      {{"mailbox_carried_max", "4096"},
                       {"piece_bytes", "4096"},
                       {"bulk_bytes", "65536"},
                       {"log", "error"}},
                      is_fenced);
}

int end(ph_context* context) {
  const ph_status status = ph_finalize(context);
  ph_context_destroy(context);
  return status == PH_OK || status == PH_ERR_PEER ? 0 : 1;
}

// ---- the receiver

class Receiver {
 public:
  Receiver(Shared& shared, ph_context* context, unsigned seed)
      : shared_(shared), context_(context), random_(seed) {
    open();
  }

  void turn() {
    for (std::uint64_t left = draw(12); left > 0; --left) probe();
    const std::uint64_t how = draw(40);
    if (how == 0) {
      close();
      open();
    } else if (how < 34) {
      const ph_status status = ph_mailbox_inc_epoch(context_, box_);
      if (status != PH_OK && status != PH_AGAIN) fail(context_, "inc_epoch", status);
    }
    take_all();
  }
  // A network that reads from a stopped rank keeps the buffer.
  void close() {
    require(context_, ph_mailbox_close(context_, box_), "close");
    is_open_ = false;
    for (unsigned tries = 0; take_all() != PH_ERR_STATE; ++tries)
      if (tries == kPatience) let_go_on();
    next_.reset();
  }
  void check_all() {
    for (const Buffer& buffer : buffers_) check_seen(buffer);
  }
  void stop_or_go_on() {
    if (draw(is_stopped_ ? 100 : 400) != 0) return;
    if (is_stopped_) return let_go_on();
    is_stopped_ = true;
    ::kill(shared_.pids[2], SIGSTOP);
  }
  void let_go_on() {
    is_stopped_ = false;
    ::kill(shared_.pids[2], SIGCONT);
  }
  void kill_once(std::uint64_t recalls) {
    if (is_killed_ || recalls_ < recalls) return;
    is_killed_ = true;
    ::kill(shared_.pids[1], SIGKILL);
  }
  std::uint64_t recalls() const { return recalls_; }
  std::uint64_t draw(std::uint64_t count) { return random_() / 7 % count; }

 private:
  struct Buffer {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(kBufferBytes);
    std::vector<unsigned char> seen;  // when it was handed over; empty: it is posted
  };

  // Where the bytes of a message may be that has not counted.
  struct Trace {
    std::uint64_t position;
    Head head;
  };

  void probe() {
    std::size_t count = 0;
    ph_completion one{};
    require(context_, ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, &one, 1, &count),
            "probe");
  }
  void open() {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kAddress;
    args.placing = PH_MAILBOX_MANAGED;
    args.source = PH_ANY_RANK;
    require(context_, ph_mailbox_open(context_, &args, &box_), "open");
    is_open_ = true;
    for (std::size_t i = 0; i < kBuffers; ++i) post(i);
  }
  void post(std::size_t index) {
    Buffer& buffer = buffers_[index];
    check_seen(buffer);
    buffer.seen.clear();
    std::fill(buffer.bytes.begin(), buffer.bytes.end(), kEmpty);
    const ph_mailbox_buffer args{sizeof args, buffer.bytes.data(), kBufferBytes, 0, nullptr, index};
    require(context_, ph_mailbox_post(context_, box_, &args), "post");
  }
  void check_seen(const Buffer& buffer) const {
    if (!buffer.seen.empty() && buffer.seen != buffer.bytes)
      found(shared_, "old bytes in a buffer that was handed over");
  }
  ph_status take_all() {
    for (;;) {
      ph_mailbox_event event{};
      const ph_status status = ph_mailbox_take(context_, box_, &event);
      if (status != PH_OK) return status;
      take(event);
    }
  }
  void take(const ph_mailbox_event& event) {
    Buffer& buffer = buffers_[event.cookie];
    std::vector<std::uint64_t> ends = {0};
    while (ends.back() < event.bytes) ends.push_back(ends.back() + take_one(buffer, ends.back()));
    if (ends.back() != event.bytes || ends.size() - 1 != event.operations)
      found(shared_, "an event counts what is not there");
    const bool was_taken_back = event.why == PH_MAILBOX_EARLY || event.why == PH_MAILBOX_CLOSED;
    check_rest(buffer, ends, was_taken_back, event.why == PH_MAILBOX_CLOSED);
    buffer.seen = buffer.bytes;
    if (!is_open_) return;
    if (draw(4) != 0) post(event.cookie);
    for (std::size_t i = 0; i < kBuffers; ++i)
      if (!buffers_[i].seen.empty() && draw(4) == 0) post(i);
  }

  std::uint64_t take_one(const Buffer& buffer, std::uint64_t at) {
    Head head{};
    std::memcpy(&head, buffer.bytes.data() + at, sizeof head);
    if (!is_known(head) || at + head.size_bytes > kBufferBytes)
      found(shared_, "bytes counted that no message has");
    for (std::uint64_t i = 0; i < head.size_bytes; ++i)
      if (buffer.bytes[at + i] != byte_at(head.from, head.number, i))
        found(shared_, "a message counted with other bytes");
    if (shared_.counted[head.from][head.number]++ != 0) found(shared_, "a message counted twice");
    // What was recalled comes first, unless its sender cannot be read any more.
    const bool is_next = !next_ || (next_->from == head.from && next_->number == head.number);
    if (!is_next && next_->from != 1) found(shared_, "a message was recalled, and did not come");
    next_.reset();
    return head.size_bytes;
  }
  bool is_known(const Head& head) const {
    return head.from > 0 && head.from < kRanks && head.number < kMost &&
           head.size_bytes == size_of(head.from, head.number) &&
           shared_.told[head.from][head.number] != Told::nothing;
  }

  // Of the message that was landing there may be bytes; and of those whose sender was killed.
  void check_rest(const Buffer& buffer, const std::vector<std::uint64_t>& ends, bool was_taken_back,
                  bool was_closed) {
    const std::uint64_t from = ends.back();
    const auto is_there = [](unsigned char byte) { return byte != kEmpty; };
    if (std::none_of(buffer.bytes.begin() + static_cast<std::ptrdiff_t>(from), buffer.bytes.end(),
                     is_there))
      return;
    std::vector<Trace> traces;
    Head head{};
    if (from + sizeof head <= kBufferBytes)
      std::memcpy(&head, buffer.bytes.data() + from, sizeof head);
    const bool is_landing = is_known(head) && may_land(head) && (was_taken_back || head.from == 1);
    if (is_landing) traces.push_back({from, head});
    if (is_killed_) add_lost(traces, ends);
    for (std::uint64_t at = from; at < kBufferBytes; ++at)
      if (is_there(buffer.bytes[at]) &&
          std::none_of(traces.begin(), traces.end(), [&](const Trace& one) {
            return at - one.position < one.head.size_bytes &&
                   buffer.bytes[at] == byte_at(one.head.from, one.head.number, at - one.position);
          }))
        found(shared_, "old bytes in a buffer that was posted since");
    if (!is_landing || !was_taken_back) return;
    ++recalls_;
    shared_.recalls.fetch_add(1);
    if (was_closed)
      refused_.push_back(head);
    else
      next_ = head;
  }
  bool may_land(const Head& head) const {
    return shared_.counted[head.from][head.number] == 0 &&
           std::none_of(refused_.begin(), refused_.end(), [&head](const Head& one) {
             return one.from == head.from && one.number == head.number;
           });
  }
  void add_lost(std::vector<Trace>& traces, const std::vector<std::uint64_t>& ends) const {
    for (std::uint32_t number = 0; number < kMost; ++number) {
      const Told told = shared_.told[1][number];
      if (told == Told::nothing) return;
      if (told != Told::sent || shared_.counted[1][number] != 0) continue;
      for (const std::uint64_t end : ends) traces.push_back({end, {1, number, size_of(1, number)}});
    }
  }

  Shared& shared_;
  ph_context* const context_;
  Random random_;
  ph_mailbox box_{};
  bool is_open_ = false;
  bool is_killed_ = false;   // rank 1
  bool is_stopped_ = false;  // rank 2
  std::array<Buffer, kBuffers> buffers_;
  std::optional<Head> next_;   // recalled: it is the next to count
  std::vector<Head> refused_;  // recalled by a close
  std::uint64_t recalls_ = 0;
};

int receive(Shared& shared, ph_context* context, std::uint64_t take_backs) {
  Receiver receiver(shared, context, std::random_device()());
  const std::uint64_t kill_at = receiver.draw(take_backs + 1);
  while (receiver.recalls() < take_backs && shared.done.load() == 0) {
    receiver.turn();
    receiver.kill_once(kill_at);
    receiver.stop_or_go_on();
  }
  receiver.kill_once(0);
  receiver.let_go_on();
  shared.stop = true;
  while (shared.done.load() < kRanks - 2) receiver.turn();
  receiver.close();
  receiver.check_all();
  return end(context);
}

// ---- jobs

int run(Shared& shared, const ph_bootstrap& bootstrap, std::uint64_t take_backs, bool is_fenced) {
  ph_context* const context = open_late(bootstrap, is_fenced || bootstrap.rank != 0);
  const pid_t mine = ::getpid();
  require(context, ph_allgather(context, &mine, shared.pids.data(), sizeof mine), "allgather");
  if (bootstrap.rank == 0) return receive(shared, context, take_backs);
  Sender(shared, context).run();
  shared.done.fetch_add(1);
  return end(context);
}

// Whether each message ended as its sender was told.
bool is_right(const Shared& shared) {
  for (ph_rank rank = 1; rank < kRanks; ++rank)
    for (std::uint32_t number = 0; number < kMost; ++number) {
      const Told told = shared.told[rank][number];
      const unsigned counted = shared.counted[rank][number];
      const bool is_known = told == Told::landed || told == Told::refused;
      const bool is_it = is_known ? counted == (told == Told::landed ? 1 : 0)
                                  : counted <= 1 && (told == Told::nothing || rank == 1);
      if (is_it) continue;
      std::fprintf(stderr, "message %u of rank %u counted %u times, its sender was told %d\n",
                   number, rank, counted, static_cast<int>(told));
      return false;
    }
  return true;
}

int run_all(std::uint64_t take_backs, bool is_fenced) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  for (std::uint64_t so_far = 0; so_far < take_backs;) {
    auto* const shared = new (memory) Shared{};
    shared->recalls = so_far;
    const auto statuses = fork_ranks(kRanks, [&](const ph_bootstrap& bootstrap) {
      return run(*shared, bootstrap, std::min(kTakeBacks, take_backs - so_far), is_fenced);
    });
    const bool has_found = WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == kFound;
    if (has_found) return kFound;
    if (statuses[0] != 0 || statuses[1] != SIGKILL || statuses[2] != 0 || statuses[3] != 0 ||
        !is_right(*shared))
      return 1;
    if (shared->recalls.load() == so_far) return 1;
    so_far = shared->recalls.load();
  }
  std::printf("%llu take-backs with a message half landed\n",
              static_cast<unsigned long long>(take_backs));
  return 0;
}

}  // namespace
}  // namespace photon::test

int main(int count, char** arguments) {
  const bool is_unfenced = count == 3 && std::string(arguments[2]) == "--unfenced";
  if (count != 2 && !is_unfenced) return 2;
  return photon::test::run_all(std::strtoull(arguments[1], nullptr, 10), !is_unfenced);
}
