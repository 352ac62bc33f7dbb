// Rank 1 computes and calls nothing; rank 0 wants things of it that need its progress.
//
//   computing served    they are served meanwhile: the progress thread is on
//   computing alone     they are not, until rank 1 is back
//   computing idle      what the thread costs a rank that waits, in a call and outside
//
// Says what it measured; exits with 0 if all was as the argument says.
#include <photon/photon.h>

#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kLongUs = 8'000'000;
constexpr std::size_t kSize = 1 << 20;
constexpr std::size_t kFlagBytes = 8192;  // large enough to be stored by its sender

struct Rank {
  ph_context* context;
  std::vector<std::byte> memory = std::vector<std::byte>(2 * kSize);
  std::vector<std::byte> source = std::vector<std::byte>(kSize, std::byte{3});
  ph_region flag{};
  ph_region target[2]{};  // of rank 1: ordinary memory
  bool good = true;

  void expect(bool is_so, const char* what) {
    if (!is_so) std::fprintf(stderr, "%s: not so\n", what);
    good = good && is_so;
  }
  ph_status await(std::uint32_t kinds, std::uint64_t id, std::int64_t timeout_us = kLongUs) {
    const ph_query query{PH_ANY_RANK, kinds, nullptr};
    for (;;) {
      ph_completion found{};
      std::size_t count = 0;
      ph_status status = ph_probe(context, query, &found, 1, &count);
      if (status == PH_OK && count == 1) return found.id == id ? PH_OK : PH_ERR_PROTOCOL;
      if (status == PH_OK) status = ph_wait(context, query, timeout_us);
      if (status != PH_OK) return status;
    }
  }
};

void get_up(Rank& rank) {
  std::vector<std::byte> ones(kFlagBytes, std::byte{1});
  const ph_target flag{rank.flag.address, rank.flag.key};
  rank.expect(ph_put_u64(rank.context, 1, {ones.data(), ones.size()}, flag, {90, 91}) == PH_OK,
              "the flag");
  rank.expect(rank.await(PH_LOCAL, 90) == PH_OK, "the flag's end");
}

void compute(Rank& rank) {
  auto& word = *reinterpret_cast<std::uint64_t*>(rank.flag.address);
  std::atomic_ref((&word)[1]).store(1);
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (std::atomic_ref(word).load() == 0 && Clock::now() < end) {
  }
  rank.expect(std::atomic_ref(word).load() != 0, "rank 0 asked to be heard");
}

// Rank 1 is outside of all calls. Memory of ph_alloc() is read without it, and without an id for
// it: many looks would fill its ledger, where nobody takes anything.
void await_thinking(Rank& rank) {
  static constexpr std::uint64_t kLocal = 80;
  std::uint64_t word = 0;
  ph_get_args look{};
  look.size = sizeof look;
  look.destination = &word;
  look.size_bytes = sizeof word;
  look.source = {rank.flag.address + 8, rank.flag.key};
  look.local = {&kLocal, sizeof kLocal};
  look.flags = PH_NO_RCE;
  while (word == 0 && rank.good) {
    rank.expect(ph_get(rank.context, 1, &look) == PH_OK, "a look");
    rank.expect(rank.await(PH_LOCAL, kLocal) == PH_OK, "a look's end");
  }
}

// How long it took.
double timed_get(Rank& rank, std::uint64_t id, std::int64_t timeout_us, ph_status expected) {
  const auto begin = Clock::now();
  rank.expect(ph_get_u64(rank.context, 1, {rank.source.data(), 4096}, ph_at(&rank.target[1], 0),
                         {id, id}) == PH_OK,
              "get");
  rank.expect(rank.await(PH_LOCAL, id, timeout_us) == expected, "the get's end");
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void ask(Rank& rank, bool served) {
  await_thinking(rank);
  if (!served) {
    timed_get(rank, 1, 300'000, PH_TIMEOUT);
    get_up(rank);
    rank.expect(ph_flush(rank.context, 1, kLongUs) == PH_OK, "a flush at last");
    return;
  }
  constexpr int kRounds = 50;
  double least = 1e9;
  double sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double one = timed_get(rank, 1, kLongUs, PH_OK);
    least = one < least ? one : least;
    sum += one;
    // Nothing comes from there meanwhile, and its thread finds nothing to do.
    rank.expect(ph_wait(rank.context, {1, PH_REMOTE, nullptr}, 1000) == PH_TIMEOUT, "silence");
  }
  std::printf("get of 4096 bytes from a rank that computes: %.1f us, at least %.1f us\n",
              sum / kRounds, least);
  static constexpr std::uint64_t kLocal = 2;
  ph_put_args put{};
  put.size = sizeof put;
  put.source = rank.source.data();
  put.size_bytes = kSize;
  put.target = ph_at(&rank.target[1], kSize);
  put.local = {&kLocal, sizeof kLocal};
  put.flags = PH_DELIVERED | PH_NO_RCE;
  rank.expect(ph_put(rank.context, 1, &put) == PH_OK, "put");
  rank.expect(rank.await(PH_LOCAL, kLocal) == PH_OK, "the put's end");
  rank.expect(ph_flush(rank.context, 1, kLongUs) == PH_OK, "flush");
  get_up(rank);
}

// All ids up to the flag's.
bool drain(Rank& rank) {
  ph_status status = PH_ERR_PROTOCOL;
  for (int i = 0; i < 1'000'000 && status == PH_ERR_PROTOCOL; ++i)
    status = rank.await(PH_REMOTE, 91);
  return status == PH_OK;
}

double cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec * 1'000'000 + time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void idle(Rank& rank) {
  constexpr double kSeconds = 2;
  const auto in_a_call = [&] {
    ph_wait(rank.context, {PH_ANY_RANK, PH_REMOTE, nullptr},
            static_cast<std::int64_t>(kSeconds * 1e6));
  };
  // Awaits nothing: a process that does nothing is what is measured.
  const auto outside = [] { ::poll(nullptr, 0, static_cast<int>(kSeconds * 1e3)); };
  const double begin = cpu_ms();
  in_a_call();
  const double between = cpu_ms();
  outside();
  const double end = cpu_ms();
  const double waiting = (between - begin) / (kSeconds * 10);
  const double computing = (end - between) / (kSeconds * 10);
  std::printf("idle: %.3f %% of a core in a wait, %.3f %% outside\n", waiting, computing);
  rank.expect(waiting < 0.5 && computing < 0.5, "the thread sleeps");
}

void run(Rank& rank, std::string_view how) {
  ph_context* context = rank.context;
  const ph_rank me = ph_rank_of(context);
  rank.expect(ph_alloc(context, kFlagBytes, &rank.flag) == PH_OK, "alloc");
  std::memset(reinterpret_cast<void*>(rank.flag.address), 0, kFlagBytes);
  ph_region mine{};
  rank.expect(
      ph_register(context, rank.memory.data(), rank.memory.size(), PH_ACCESS_ALL, &mine) == PH_OK,
      "register");
  ph_region flags[2]{};
  ph_allgather(context, &mine, rank.target, sizeof mine);
  ph_allgather(context, &rank.flag, flags, sizeof rank.flag);
  if (me == 0) rank.flag = flags[1];
  // First contact, both ways.
  rank.expect(ph_notify(context, 1 - me, 77) == PH_OK, "notify");
  rank.expect(rank.await(PH_REMOTE, 77) == PH_OK, "a notification");
  rank.expect(ph_flush(context, 1 - me, kLongUs) == PH_OK, "a first flush");
  ph_barrier(context);
  if (how == "idle") {
    idle(rank);
  } else if (me == 0) {
    ask(rank, how == "served");
  } else {
    compute(rank);
    rank.expect(drain(rank), "the id of the flag");
    rank.expect(how == "alone" || rank.memory[2 * kSize - 1] == std::byte{3}, "the put's bytes");
  }
  rank.expect(ph_flush(context, 1 - me, kLongUs) == PH_OK, "a last flush");
  ph_barrier(context);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  Rank rank{};
  ph_error error{};
  if (ph_context_create(nullptr, &rank.context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  run(rank, arguments[1]);
  rank.expect(ph_finalize(rank.context) == PH_OK, "finalize");
  ph_context_destroy(rank.context);
  return rank.good ? 0 : 1;
}
