// Two ranks with a cable between them that is cut at a moment that is given, while their launcher
// goes on to reach both: what was accepted and did not arrive is told, and nothing hangs. Of three
// ranks the second is on the host of the first: all that it is sent arrives, whatever is cut.
//
//   cut MOMENT SIDE DELAY_US
//
// MOMENT: contact (before the first put), idle (between two), stream (while puts go), finalize.
// SIDE: whose end of the cable (v0) is taken down, 0 (rank 0) or 1 (the last rank). DELAY_US: how
// long after the begin of stream or finalize. Rank 0 puts and says how many were accepted, which
// were told to have failed, how long after the cut, and what flush and finalize said; the others
// say how many they got.
// Exit status 0: what each said fits what it was told; tests/hosts/cut compares the two.
#include <photon/photon.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRegionBytes = 1 << 20;
constexpr std::uint64_t kFinalizedPuts = 40;
constexpr std::uint64_t kNear = std::uint64_t{1} << 32;  // in ids of puts to the rank of this host

struct Plan {
  std::string moment;
  int side = 0;
  std::chrono::microseconds delay{0};
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void cut_cable() {
  if (std::system("ip link set v0 down") != 0) std::exit(9);
}

// What rank 0 has put, and what it was told.
class Putter {
 public:
  // By rank, where the others take puts.
  Putter(ph_context* context, const std::vector<ph_region>& regions)
      : context_(context), far_(static_cast<ph_rank>(regions.size() - 1)), regions_(regions) {}

  // Small ones, and some that go another way.
  ph_status put() {
    const std::uint64_t id = accepted + 1;
    const std::size_t bytes = id % 7 == 0 ? 200'000 : id % 3 == 0 ? 5'000 : 8;
    const ph_status status =
        ph_put_u64(context_, far_, {source_.data(), bytes}, ph_at(&regions_[far_], 0), {id, id});
    if (status == PH_OK) accepted = id;
    if (far_ == 2) put_near();
    return status;
  }
  // False: an error was among them.
  bool take() {
    ph_completion found[32];
    std::size_t count = 0;
    const ph_query local{PH_ANY_RANK, PH_LOCAL, nullptr};
    if (ph_probe(context_, local, found, 32, &count) != PH_OK) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i].status == PH_OK) continue;
      if (found[i].status != PH_ERR_PEER || found[i].peer != far_) std::exit(8);
      first_failed = failed++ == 0 ? found[i].id : std::min(first_failed, found[i].id);
    }
    return failed == 0;
  }
  void wait(std::int64_t timeout_us) {
    static_cast<void>(ph_wait(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, timeout_us));
  }

  std::uint64_t accepted = 0;
  std::uint64_t failed = 0;
  std::uint64_t first_failed = 0;
  std::uint64_t near_accepted = 0;

 private:
  void put_near() {
    const std::uint64_t id = kNear + near_accepted + 1;
    const ph_status status =
        ph_put_u64(context_, 1, {source_.data(), 8}, ph_at(&regions_[1], 0), {id, id});
    if (status != PH_OK && status != PH_AGAIN) std::exit(10);
    near_accepted += status == PH_OK ? 1 : 0;
  }

  ph_context* context_;
  const ph_rank far_;
  const std::vector<ph_region>& regions_;
  const std::vector<std::byte> source_ = std::vector<std::byte>(kRegionBytes);
};

// Puts until it is told. `is_stream`: without a rest.
void put_until_told(Putter& putter, bool is_stream) {
  for (;;) {
    const ph_status status = putter.put();
    if (status != PH_OK && status != PH_AGAIN) {
      for (int i = 0; i < 100 && putter.take(); ++i) putter.wait(10'000);
      while (!putter.take() && putter.failed == 0) putter.wait(1'000);
      return;
    }
    if (!is_stream || status == PH_AGAIN) putter.wait(50'000);
    if (!putter.take()) return;
  }
}

void take_rest(Putter& putter) {
  for (std::uint64_t before = 0; before != putter.failed || before == 0;) {
    before = putter.failed;
    static_cast<void>(putter.take());
    if (before == 0) break;
  }
}

int run_first(ph_context* context, const std::vector<ph_region>& regions, const Plan& plan) {
  Putter putter(context, regions);
  const bool is_ours = plan.side == 0;
  std::thread cutter;
  const auto cut_later = [&] {
    if (is_ours)
      cutter = std::thread([&] {
        std::this_thread::sleep_for(plan.delay);
        cut_cable();
      });
  };
  if (plan.moment != "contact") {
    for (int i = 0; i < 20; ++i) {
      while (putter.put() == PH_AGAIN) putter.wait(1'000);
      static_cast<void>(putter.take());
    }
    if (ph_flush(context, PH_ANY_RANK, 20'000'000) != PH_OK) return 7;
  }
  if (ph_barrier(context) != PH_OK) return 6;
  if (plan.moment == "contact" || plan.moment == "idle") {
    if (is_ours) cut_cable();
    if (ph_barrier(context) != PH_OK) return 6;
  } else {
    cut_later();
  }
  ph_path path{};
  path.size = sizeof path;
  if (regions.size() == 3 &&
      (ph_path_to(context, 1, &path) != PH_OK || std::string_view(path.transport) != "shm"))
    return 14;
  const Clock::time_point cut = Clock::now();
  ph_status flushed = PH_OK;
  if (plan.moment == "finalize") {
    for (std::uint64_t i = 0; i < kFinalizedPuts; ++i)
      while (putter.put() == PH_AGAIN) putter.wait(1'000);
  } else {
    put_until_told(putter, plan.moment == "stream");
    take_rest(putter);
    const double told = seconds_since(cut);
    flushed = ph_flush(context, PH_ANY_RANK, 1'000'000);
    std::printf("told %.1f\n", told);
  }
  const ph_status finalized = ph_finalize(context);
  if (cutter.joinable()) cutter.join();
  std::printf("near accepted %llu\n", static_cast<unsigned long long>(putter.near_accepted));
  std::printf("accepted %llu failed %llu from %llu flush %d finalize %d in %.1f\n",
              static_cast<unsigned long long>(putter.accepted),
              static_cast<unsigned long long>(putter.failed),
              static_cast<unsigned long long>(putter.first_failed), flushed, finalized,
              seconds_since(cut));
  return 0;
}

// All of them, and then the orderly end of who sent them.
int run_near(ph_context* context, const Plan& plan) {
  const bool is_cut_between = plan.moment == "contact" || plan.moment == "idle";
  for (int i = 0; i < (is_cut_between ? 2 : 1); ++i)
    if (ph_barrier(context) != PH_OK) return 6;
  const ph_query of_first{0, PH_REMOTE, nullptr};
  std::uint64_t got = 0;
  for (ph_status status = PH_OK; status == PH_OK;) {
    status = ph_wait(context, of_first, 60'000'000);
    ph_completion found[32];
    std::size_t count = 1;
    while (count != 0) {
      if (ph_probe(context, of_first, found, 32, &count) != PH_OK) return 11;
      got += count;
    }
    if (status != PH_OK && status != PH_ERR_DEPARTED) return 12;
  }
  std::printf("near got %llu\n", static_cast<unsigned long long>(got));
  return ph_finalize(context) == PH_OK ? 0 : 13;
}

// Until nobody is left who could send.
int run_far(ph_context* context, const Plan& plan) {
  std::thread cutter;
  std::uint64_t got = 0;
  const auto take = [&](std::int64_t timeout_us) {
    const ph_query of_first{0, PH_REMOTE, nullptr};
    const ph_status waited = ph_wait(context, of_first, timeout_us);
    ph_completion found[32];
    std::size_t count = 0;
    if (ph_probe(context, of_first, found, 32, &count) != PH_OK) return PH_ERR_STATE;
    got += count;
    return count != 0 ? PH_OK : waited;
  };
  if (plan.moment != "contact")
    while (got < 20)
      if (take(20'000'000) != PH_OK) return 5;
  if (ph_barrier(context) != PH_OK) return 6;
  const bool is_ours = plan.side == 1;
  if (plan.moment == "contact" || plan.moment == "idle") {
    if (is_ours) cut_cable();
    if (ph_barrier(context) != PH_OK) return 6;
  } else if (is_ours) {
    cutter = std::thread([&] {
      std::this_thread::sleep_for(plan.delay);
      cut_cable();
    });
  }
  ph_status status = PH_OK;
  while (status == PH_OK) status = take(60'000'000);
  if (cutter.joinable()) cutter.join();
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("got %llu end %d (%s)\n", static_cast<unsigned long long>(got), status, error.text);
  static_cast<void>(ph_finalize(context));
  return status == PH_ERR_PEER || status == PH_ERR_DEPARTED ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Plan plan{argv[1], std::atoi(argv[2]), std::chrono::microseconds(std::atoll(argv[3]))};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 1;
  }
  static std::byte memory[kRegionBytes];
  ph_region mine{};
  std::vector<ph_region> all(ph_size_of(context));
  if (ph_register(context, memory, sizeof memory, PH_ACCESS_ALL, &mine) != PH_OK ||
      ph_allgather(context, &mine, all.data(), sizeof mine) != PH_OK)
    return 3;
  const ph_rank rank = ph_rank_of(context);
  const int status = rank == 0                ? run_first(context, all, plan)
                     : rank + 1 == all.size() ? run_far(context, plan)
                                              : run_near(context, plan);
  std::fflush(stdout);
  ph_context_destroy(context);
  return status;
}
