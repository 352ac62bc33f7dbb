// Ranks with four threads each, every thread on a lane of its own, with everything at once:
//   mixed OPERATIONS   of the whole job
// Nothing is lost, nothing is reordered within a lane, words and bytes are right, and memory does
// not grow: what a rank has when each thread has done half is all it has at the end.
#include <photon/photon.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

extern "C" [[gnu::weak]] void __asan_init();  // there, if the address sanitizer is

namespace {

constexpr std::uint32_t kThreads = 4;
constexpr std::uint64_t kWindow = 64;  // messages to one peer that it has not confirmed
constexpr std::uint64_t kSlotBytes = 4096;
constexpr std::uint64_t kStagedBytes = 256;  // of a message that lands on the heap
constexpr std::uint64_t kPlainBytes = 96;    // of one with two words for ids, as the smallest
constexpr std::uint64_t kMorePages = 128;    // that the heap may take in the course

// An id: the number of a message and, above, its bytes; or one of the marks, and how many messages
// were taken, or sent in all.
constexpr unsigned kSizeShift = 32;
constexpr std::uint64_t kConfirms = 1u << 30, kEnds = 1u << 31, kNumber = kConfirms - 1;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

std::uint64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident;
}

// What the threads of a rank share. Only its owner reaches what is on its heap, the words and where
// messages of one size land; all others land, and other words lie, where all have mapped them.
struct Shared {
  std::vector<photon::Region> landings;
  std::vector<photon::Region> heap_landings;
  std::vector<photon::Region> mapped;
  std::vector<photon::Region> heaps;
  const std::byte* landing;
  const std::byte* heap_landing;
  std::uint64_t each;             // operations a thread
  std::atomic<unsigned> warm{0};  // threads that have done half
};

class Worker {
 public:
  Worker(photon::Lane& lane, Shared& shared, std::uint32_t thread)
      : lane_(lane),
        shared_(shared),
        thread_(thread),
        peers_(lane.size()),
        random_(mixed(1 + lane.rank() * 1000 + thread)) {
    peers_[lane.rank()].has_ended = true;
  }

  void run() {
    for (std::uint64_t i = 1; i <= shared_.each; ++i) {
      const auto turn = static_cast<photon::Rank>(1 + draw() % (lane_.size() - 1));
      post((lane_.rank() + turn) % lane_.size(), draw() % 64);
      if (i == shared_.each / 2) ++shared_.warm;
    }
    for (photon::Rank to = 0; to < lane_.size(); ++to)
      if (to != lane_.rank()) notify(to, kEnds | (peers_[to].sent & kNumber));
    for (const Peer& peer : peers_)
      while (!peer.has_ended) take();
    require(ph_flush(context(), PH_ANY_RANK, PH_FOREVER) == PH_OK, "flush");
  }

  void take() {
    std::array<ph_completion, 16> found;
    std::size_t count = 0;
    const ph_query all{PH_ANY_RANK, PH_EITHER, nullptr};
    const ph_status status = ph_probe(context(), all, found.data(), found.size(), &count);
    require(status == PH_OK, "probe");
    for (std::size_t i = 0; i < count; ++i) {
      require(found[i].status == PH_OK, "status of a completion");
      if (found[i].kind == PH_REMOTE) take(found[i].peer, found[i].id);
    }
    for (photon::Rank from = 0; from < lane_.size(); ++from) confirm(from);
  }

 private:
  struct Peer {
    std::uint64_t sent = 0;
    std::uint64_t sent_confirmed = 0;
    std::uint64_t taken = 0;
    std::uint64_t taken_confirmed = 0;
    std::uint64_t added_mapped = 0;
    std::uint64_t added_heap = 0;
    bool has_ended = false;
  };

  ph_context* context() const { return lane_.c_context(); }
  std::uint64_t draw() { return mixed(++random_); }

  void post(photon::Rank to, std::uint64_t kind) {
    if (kind < 24) return put(to, 8 + 8 * (kind % 4));
    if (kind < 38) return put(to, 0);
    if (kind < 44) return put(to, kStagedBytes);
    if (kind < 45) return put(to, kSlotBytes);
    if (kind < 48) return put(to, kPlainBytes);
    if (kind < 52) return add(to, shared_.mapped, peers_[to].added_mapped);
    if (kind < 57) return add(to, shared_.heaps, peers_[to].added_heap);
    get(to);
  }

  // What a message says follows from who sends it and its number.
  std::uint64_t word_of(photon::Rank from, std::uint64_t number, std::uint64_t at) const {
    return mixed(number * 512 + at) + thread_ * 100 + from;
  }
  std::uint64_t place_of(photon::Rank from, std::uint64_t number, std::uint64_t bytes) const {
    return ((std::uint64_t{thread_} * lane_.size() + from) * kWindow + number % kWindow) *
           (bytes == kStagedBytes ? kStagedBytes : kSlotBytes);
  }
  std::uint64_t own_word() const {
    return (std::uint64_t{thread_} * lane_.size() + lane_.rank()) * sizeof(std::uint64_t);
  }

  void put(photon::Rank to, std::uint64_t bytes) {
    Peer& peer = peers_[to];
    while (peer.sent - peer.sent_confirmed == kWindow) take();
    const std::uint64_t number = peer.sent++;
    const std::uint64_t id = (number & kNumber) | bytes << kSizeShift;
    if (bytes == 0) return notify(to, id);
    for (std::uint64_t i = 0; i < bytes / 8; ++i) source_[i] = word_of(lane_.rank(), number, i);
    const auto& landings = bytes == kStagedBytes ? shared_.heap_landings : shared_.landings;
    const ph_target target = ph_at(&landings[to], place_of(lane_.rank(), number, bytes));
    if (bytes <= 32 || bytes == kPlainBytes) {
      insist([&] { return ph_put_u64(context(), to, {source_.data(), bytes}, target, {id, id}); });
      return;
    }
    ph_request request = PH_REQUEST_NONE;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = source_.data();
    args.size_bytes = bytes;
    args.target = target;
    args.remote = {&id, sizeof id};
    args.request = &request;
    insist([&] { return ph_put(context(), to, &args); });
    finish(request);
  }

  // To a word that no other thread adds to: each finds what the last one left.
  void add(photon::Rank to, const std::vector<photon::Region>& where, std::uint64_t& added) {
    std::uint64_t before = 0;
    ph_request request = PH_REQUEST_NONE;
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = ph_at(&where[to], own_word());
    args.op = PH_OP_ADD;
    args.type = PH_UINT64;
    args.operand.uint64 = 1;
    args.fetched = &before;
    args.flags = PH_NO_RCE;
    args.request = &request;
    insist([&] { return ph_atomic(context(), to, &args); });
    finish(request);
    require(before == added++, "what an atomic fetched");
  }

  void get(photon::Rank to) {
    std::uint64_t found = 0;
    ph_request request = PH_REQUEST_NONE;
    ph_get_args args{};
    args.size = sizeof args;
    args.destination = &found;
    args.size_bytes = sizeof found;
    args.source = ph_at(&shared_.heaps[to], own_word());
    args.flags = PH_NO_RCE;
    args.request = &request;
    insist([&] { return ph_get(context(), to, &args); });
    finish(request);
    require(found == peers_[to].added_heap, "what a get found");
  }

  void notify(photon::Rank to, std::uint64_t id) {
    insist([&] { return ph_notify(context(), to, id); });
  }

  template <class Call>
  void insist(Call call) {
    for (ph_status status = call(); status != PH_OK; status = call()) {
      require(status == PH_AGAIN, ph_status_text(status));
      take();
    }
  }

  // Waited for, or asked for, by turns.
  void finish(ph_request& request) {
    if (draw() % 2 == 0) {
      const ph_status status = ph_wait_request(context(), &request, nullptr, PH_FOREVER);
      return require(status == PH_OK, "a wait for a request");
    }
    for (ph_status status = PH_AGAIN; status != PH_OK;) {
      status = ph_test(context(), &request, nullptr);
      require(status == PH_OK || status == PH_AGAIN, "a test of a request");
      if (status == PH_AGAIN) take();
    }
  }

  void take(photon::Rank from, std::uint64_t id) {
    Peer& peer = peers_[from];
    if ((id & kEnds) != 0) {
      require((id & kNumber) == (peer.taken & kNumber), "not all messages came");
      peer.has_ended = true;
    } else if ((id & kConfirms) != 0) {
      peer.sent_confirmed += (id - peer.sent_confirmed) & kNumber;
      require(peer.sent_confirmed <= peer.sent, "more confirmed than sent");
    } else {
      require((id & kNumber) == (peer.taken & kNumber), "the order of the ids");
      const std::uint64_t number = peer.taken++;
      const std::uint64_t bytes = id >> kSizeShift;
      const std::byte* landing = bytes == kStagedBytes ? shared_.heap_landing : shared_.landing;
      const std::byte* at = landing + place_of(from, number, bytes);
      for (std::uint64_t i = 0; i < bytes / 8; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, at + 8 * i, sizeof word);
        require(word == word_of(from, number, i), "the bytes of a message");
      }
    }
  }

  // Again with the next completions, if it cannot be said now.
  void confirm(photon::Rank from) {
    Peer& peer = peers_[from];
    if (peer.taken - peer.taken_confirmed < kWindow / 4) return;
    const ph_status status = ph_notify(context(), from, kConfirms | (peer.taken & kNumber));
    require(status == PH_OK || status == PH_AGAIN, "a confirmation");
    if (status == PH_OK) peer.taken_confirmed = peer.taken;
  }

  photon::Lane& lane_;
  Shared& shared_;
  const std::uint32_t thread_;
  std::vector<Peer> peers_;
  std::uint64_t random_;
  std::array<std::uint64_t, kSlotBytes / 8> source_{};
};

int run(photon::Context& context, std::uint64_t operations) {
  const std::uint64_t words = std::uint64_t{kThreads} * context.size();
  auto landing = context.allocate<std::byte>(words * kWindow * kSlotBytes);
  auto mapped = context.allocate<std::uint64_t>(words);
  std::vector<std::uint64_t> heap(words);
  std::vector<std::byte> heap_landing(words * kWindow * kStagedBytes);
  const auto registration = context.register_memory(heap);
  const auto landing_registration = context.register_memory(heap_landing);
  Shared shared{context.allgather(landing.region()),
                context.allgather(landing_registration.region()),
                context.allgather(mapped.region()),
                context.allgather(registration.region()),
                landing.data(),
                heap_landing.data(),
                operations / (std::uint64_t{kThreads} * context.size())};
  std::vector<photon::Lane> lanes;
  for (std::uint32_t number = 1; number <= kThreads; ++number)
    lanes.push_back(context.lane(number));
  std::atomic<unsigned> finished = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      Worker worker(lanes[thread], shared, thread);
      worker.run();
      ++finished;
      while (!over) {  // the others may still ask
        (void)lanes[thread].wait_for(std::chrono::milliseconds(1));
        worker.take();
      }
    });
  std::uint64_t pages = 0;
  while (finished != kThreads) {
    (void)context.wait_for(std::chrono::milliseconds(1));
    if (pages == 0 && shared.warm == kThreads) pages = resident_pages();
  }
  const std::uint64_t most = resident_pages();
  context.barrier();
  over = true;
  for (auto& thread : threads) thread.join();
  for (std::uint64_t i = 0; i < words; ++i)
    require(i % context.size() != context.rank() || (heap[i] == 0 && mapped.data()[i] == 0),
            "a word that nobody adds to");
  for (photon::Lane& lane : lanes) require(lane.close(), "close");
  std::printf("rank %u: %llu pages after half, %llu at the end\n", context.rank(),
              static_cast<unsigned long long>(pages), static_cast<unsigned long long>(most));
  if (__asan_init != nullptr) {
    std::printf("rank %u: growth is not judged: the sanitizer keeps what was freed\n",
                context.rank());
    return context.finalize() ? 0 : 3;
  }
  require(pages == 0 || most <= pages + kMorePages, "memory grows");
  return context.finalize() ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    photon::Context context;
    if (context.size() < 2) return 2;
    return run(context, std::strtoull(argv[1], nullptr, 10));
  } catch (const photon::Error& error) {
    std::fprintf(stderr, "%s: %s\n", ph_status_text(error.status()), error.what());
    return 4;
  }
}
