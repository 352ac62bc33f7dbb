// Two ranks with a cable between them that is cut at a moment that is given, while their launcher
// goes on to reach both: what was accepted and did not arrive is told, and nothing hangs.
//
//   cut MOMENT SIDE DELAY_US
//
// MOMENT: contact (before the first put), idle (between two), stream (while puts go), finalize.
// SIDE: the rank whose end of the cable (v0) is taken down. DELAY_US: how long after the begin of
// stream or finalize. Rank 0 puts and says how many were accepted, which were told to have failed,
// how long after the cut, and what flush and finalize said; rank 1 says how many it got.
// Exit status 0: what each said fits what it was told; tests/hosts/cut compares the two.
#include <photon/photon.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRegionBytes = 1 << 20;
constexpr std::uint64_t kFinalizedPuts = 40;

struct Plan {
  std::string moment;
  ph_rank side = 0;
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
  Putter(ph_context* context, const ph_region& target) : context_(context), target_(target) {}

  // Small ones, and some that go another way.
  ph_status put() {
    const std::uint64_t id = accepted + 1;
    const std::size_t bytes = id % 7 == 0 ? 200'000 : id % 3 == 0 ? 5'000 : 8;
    const ph_status status =
        ph_put_u64(context_, 1, {source_.data(), bytes}, ph_at(&target_, 0), {id, id});
    if (status == PH_OK) accepted = id;
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
      if (found[i].status != PH_ERR_PEER || found[i].peer != 1) std::exit(8);
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

 private:
  ph_context* context_;
  const ph_region target_;
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

int run_first(ph_context* context, const ph_region& target, const Plan& plan,
              Clock::time_point cut) {
  Putter putter(context, target);
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
    if (ph_flush(context, 1, 20'000'000) != PH_OK) return 7;
  }
  if (ph_barrier(context) != PH_OK) return 6;
  if (plan.moment == "contact" || plan.moment == "idle") {
    if (is_ours) cut_cable();
    if (ph_barrier(context) != PH_OK) return 6;
  } else {
    cut_later();
  }
  cut = Clock::now();
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
  std::printf("accepted %llu failed %llu from %llu flush %d finalize %d in %.1f\n",
              static_cast<unsigned long long>(putter.accepted),
              static_cast<unsigned long long>(putter.failed),
              static_cast<unsigned long long>(putter.first_failed), flushed, finalized,
              seconds_since(cut));
  return 0;
}

// Until nobody is left who could send.
int run_second(ph_context* context, const Plan& plan) {
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
  const Plan plan{argv[1], static_cast<ph_rank>(std::atoi(argv[2])),
                  std::chrono::microseconds(std::atoll(argv[3]))};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 1;
  }
  static std::byte memory[kRegionBytes];
  ph_region mine{};
  ph_region all[2];
  if (ph_register(context, memory, sizeof memory, PH_ACCESS_ALL, &mine) != PH_OK ||
      ph_allgather(context, &mine, all, sizeof mine) != PH_OK)
    return 3;
  const int status = ph_rank_of(context) == 0 ? run_first(context, all[1], plan, Clock::now())
                                              : run_second(context, plan);
  std::fflush(stdout);
  ph_context_destroy(context);
  return status;
}
