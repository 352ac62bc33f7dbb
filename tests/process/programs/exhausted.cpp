// A rank whose memory runs out while its peer makes no calls: exhausted FIFO
// Rank 1 reads the FIFO, and so is silent until rank 0 writes to it. Rank 0 forbids itself more
// address space (RLIMIT_AS) than it has and a little more, and posts until it is refused, each kind
// of operation in its turn. What was refused was not begun: of the rest each local and each remote
// id comes once and well, and when there is memory again the pair goes on.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <map>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::next;
using photon::test::require;

constexpr std::size_t kRoom = 1 << 20;
constexpr std::uint64_t kMoreBytes = 24 << 20;          // of address space, for all that is posted
constexpr std::uint64_t kMostPosts = 200'000;           // of a kind: memory runs out before
constexpr std::uint64_t kEnd = std::uint64_t{1} << 40;  // a notification; and the count of the rest
constexpr int kRefusals = 100;                          // of each kind, one after the other

std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

void limit_address_space(rlim_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(2);
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(2);
}

class Poster {
 public:
  Poster(ph_context* context, const ph_region& there)
      : context_(context), there_(there), source_(kRoom), destination_(kRoom) {}

  // Each kind in its turn, until all have been refused so often; then says how many were taken.
  void exhaust() {
    struct Kind {
      const char* what;
      ph_status (*post)(Poster& self, std::uint64_t id);
      std::uint64_t taken = 0;
      int refusals = 0;
    };
    Kind kinds[] = {{"small puts", [](Poster& self, auto id) { return self.put(id, 100); }},
                    {"large puts", [](Poster& self, auto id) { return self.put(id, 100'000); }},
                    {"gets", [](Poster& self, auto id) { return self.get(id); }},
                    {"vectored puts", [](Poster& self, auto id) { return self.put_vector(id); }},
                    {"notices", [](Poster& self, auto id) { return self.notify(id); }}};
    const auto goes_on = [](const Kind& kind) { return kind.refusals < kRefusals; };
    while (ids_ < kMostPosts && std::ranges::any_of(kinds, goes_on)) {
      for (Kind& kind : kinds) {
        const ph_status status = kind.post(*this, ids_ + 1);
        if (status == PH_OK)
          ++ids_, ++kind.taken;
        else if (status == PH_AGAIN || status == PH_ERR_MEMORY)
          ++kind.refusals;
        else
          fail(context_, kind.what, status);
      }
    }
    for (const Kind& kind : kinds)
      std::printf("%s: %" PRIu64 " taken, %d refused\n", kind.what, kind.taken, kind.refusals);
    std::fflush(stdout);
  }
  ph_status put(std::uint64_t id, std::size_t bytes) {
    return ph_put_u64(context_, 1, {source_.data(), bytes}, ph_at(&there_, 0), {id, id});
  }
  ph_status get(std::uint64_t id) {
    return ph_get_u64(context_, 1, {destination_.data(), 5000}, ph_at(&there_, 0), {id, id});
  }
  ph_status put_vector(std::uint64_t id) {
    ph_put_segment segments[3];
    for (std::size_t i = 0; i < 3; ++i)
      segments[i] = {source_.data() + i * 64, 40, ph_at(&there_, i * 128)};
    ph_put_vector_args args{};
    args.size = sizeof args;
    args.segments = segments;
    args.segments_count = 3;
    args.local = args.remote = {&id, sizeof id};
    return ph_put_vector(context_, 1, &args);
  }
  // It has no local id.
  ph_status notify(std::uint64_t id) {
    const ph_status status = ph_notify(context_, 1, id);
    if (status == PH_OK) ++without_local_;
    return status;
  }

  // The local id of each that was taken, once.
  void take_locals() {
    for (std::uint64_t i = 0; i < ids_ - without_local_; ++i) {
      const ph_completion one = next(context_, 1, PH_LOCAL);
      if (one.status != PH_OK) fail(context_, "a local id", one.status);
      if (one.id == 0 || one.id > ids_ || seen_[one.id]++ != 0)
        fail(context_, "a local id that there is not", PH_ERR_PROTOCOL);
    }
  }
  std::uint64_t count() const { return ids_; }

 private:
  ph_context* context_;
  const ph_region there_;
  std::vector<std::byte> source_, destination_;
  std::vector<char> seen_ = std::vector<char>(kMostPosts + 1);  // before memory runs out
  std::uint64_t ids_ = 0, without_local_ = 0;
};

void until_taken(ph_context* context, std::uint64_t id) {
  ph_status status = PH_AGAIN;
  while (status == PH_AGAIN) {
    status = ph_notify(context, 1, id);
    static_cast<void>(ph_wait(context, {1, PH_REMOTE, nullptr}, 1000));
  }
  require(context, status, "notify");
}

void run_first(ph_context* context, const ph_region& there, int fifo) {
  Poster poster(context, there);
  for (std::uint64_t i = 0; i < 100; ++i) {  // what is allocated once
    require(context, poster.put(kEnd, 100), "put");
    require(context, poster.get(kEnd), "get");
    for (int ids = 0; ids < 2; ++ids) next(context, 1, PH_LOCAL);
  }
  require(context, ph_barrier(context), "barrier");
  limit_address_space(address_space_bytes() + kMoreBytes);
  poster.exhaust();
  if (::write(fifo, "", 1) != 1) std::_Exit(2);
  poster.take_locals();
  limit_address_space(RLIM_INFINITY);
  until_taken(context, kEnd + poster.count());
  require(context, poster.put(kEnd, 100'000), "a put afterwards");
  if (next(context, 1, PH_LOCAL).id != kEnd) fail(context, "another local id", PH_ERR_PROTOCOL);
  std::printf("%" PRIu64 " in all, each told once\n", poster.count());
}

void run_second(ph_context* context, int fifo) {
  for (int i = 0; i < 200; ++i) next(context, 0, PH_REMOTE);
  require(context, ph_barrier(context), "barrier");
  char woken = 0;
  if (::read(fifo, &woken, 1) != 1) std::_Exit(2);
  std::map<std::uint64_t, int> seen;
  for (;;) {
    const ph_completion one = next(context, 0, PH_REMOTE);
    if (one.id > kEnd) {
      if (one.id - kEnd != seen.size()) fail(context, "remote ids are missing", PH_ERR_PROTOCOL);
      break;
    }
    if (one.status != PH_OK || seen[one.id]++ != 0)
      fail(context, ("remote id " + std::to_string(one.id)).c_str(), one.status);
  }
  if (next(context, 0, PH_REMOTE).id != kEnd) fail(context, "another id", PH_ERR_PROTOCOL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 3;
  const bool is_first = ph_rank_of(context) == 0;
  const int fifo = ::open(argv[1], is_first ? O_WRONLY : O_RDONLY);
  std::vector<std::byte> memory(kRoom);
  ph_region mine{}, all[2];
  require(context, ph_register(context, memory.data(), kRoom, PH_ACCESS_ALL, &mine), "register");
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  require(context, ph_barrier(context), "barrier");  // they have met
  is_first ? run_first(context, all[1], fifo) : run_second(context, fifo);
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}
