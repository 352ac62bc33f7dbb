// A rank with threads on lanes: lanes HOW
//   work     four threads a rank, each on its own lane, put, get and change words in the next rank
//   one_side only even ranks open lanes, send on them, close and leave
//   die      the last rank is killed in the middle of traffic on all lanes; the others close theirs
#include <photon/photon.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr std::uint32_t kThreads = 4;
constexpr std::uint64_t kRounds = 200;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

photon::Completion next(photon::Lane& lane, const photon::Query& query) {
  for (;;) {
    lane.wait(query);
    if (const auto one = lane.probe_one(query)) {
      require(one->status == PH_OK, "status of a completion");
      return *one;
    }
  }
}

// What a thread and its like in all ranks do, in a ring; its words and bytes are its own.
void work_on(photon::Lane& lane, const std::vector<photon::Region>& regions, std::uint64_t* mine) {
  const auto number = lane.number();
  const photon::Rank to = (lane.rank() + 1) % lane.size();
  const photon::Rank from = (lane.rank() + lane.size() - 1) % lane.size();
  const photon::Query from_there{from, PH_REMOTE, {}};
  const photon::Query to_there{to, PH_LOCAL, {}};
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const std::uint64_t value = number * 1'000'000 + lane.rank() * 1000 + round;
    // Two places in turn: the one before us may be a round ahead.
    const auto place = photon::at<std::uint64_t>(regions[to], 4 * number + round % 2);
    require(lane.put(to, std::span(&value, 1), place, {.local = round, .remote = round}), "put");
    require(next(lane, to_there).id == round, "local id of a put");
    require(next(lane, from_there).id == round, "remote id of a put");
    require(mine[4 * number + round % 2] == number * 1'000'000 + from * 1000 + round, "bytes");
    std::uint64_t before = 0;
    const photon::Change<std::uint64_t> add{
        .target = photon::at<std::uint64_t>(regions[to], 4 * number + 2),
        .op = PH_OP_ADD,
        .operand = 2,
        .fetched = &before};
    require(lane.atomic(to, add, {.local = round, .remote = round}), "atomic");
    require(next(lane, to_there).id == round, "local id of an atomic");
    require(before == 2 * (round - 1), "fetched");
    require(next(lane, from_there).id == round, "remote id of an atomic");
    require(lane.fence(to), "fence");
    std::uint64_t back = 0;
    require(lane.get(to, std::span(&back, 1), place, {.local = round}), "get");
    require(next(lane, to_there).id == round, "local id of a get");
    require(back == value, "bytes of a get");
  }
}

int work(photon::Context& context) {
  auto memory = context.allocate<std::uint64_t>(4 * (kThreads + 1));
  const auto regions = context.allgather(memory.region());
  std::vector<photon::Lane> lanes;
  for (std::uint32_t number = 1; number <= kThreads; ++number)
    lanes.push_back(context.lane(number));
  std::atomic<unsigned> finished = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (photon::Lane& lane : lanes)
    threads.emplace_back([&] {
      work_on(lane, regions, memory.data());
      ++finished;
      while (!over) (void)lane.wait_for(std::chrono::milliseconds(1));  // serves the peers
    });
  while (finished != kThreads) (void)context.wait_for(std::chrono::milliseconds(1));
  context.barrier();  // who closes a lane cannot be read from by it any more
  over = true;
  for (auto& thread : threads) thread.join();
  for (photon::Lane& lane : lanes) require(lane.close(), "close");
  return context.finalize() ? 0 : 3;
}

// Lanes that their peers never open keep nobody waiting.
int one_side(photon::Context& context) {
  if (context.rank() % 2 == 0 && context.size() > 1) {
    photon::Lane lane = context.lane(1);
    require(lane.notify(context.rank() + 1, 7), "notify");
    require(lane.close(), "close");
    photon::Lane left_open = context.lane(2);
    require(left_open.notify(context.rank() + 1, 7), "notify");
    context.barrier();
    return context.finalize() ? 0 : 3;
  }
  context.barrier();
  return context.finalize() ? 0 : 3;
}

int die(photon::Context& context) {
  auto memory = context.allocate<std::byte>(1 << 20);
  const auto regions = context.allgather(memory.region());
  const photon::Rank victim = context.size() - 1;
  std::vector<std::thread> threads;
  for (std::uint32_t number = 1; number <= 3; ++number)
    threads.emplace_back([&, number] {
      photon::Lane lane = context.lane(number);
      std::vector<std::byte> source(60'000);
      for (std::uint64_t i = 0;; ++i) {
        if (context.rank() == victim) {
          (void)lane.probe_one();
          continue;
        }
        ph_completion found[8];
        std::size_t count = 0;
        const auto place = photon::at(regions[victim], 100'000 * number);
        const ph_status status =
            ph_put_u64(lane.c_context(), victim, {source.data(), i % 3 == 0 ? source.size() : 8},
                       place, {i, i});
        ph_probe(lane.c_context(), {PH_ANY_RANK, PH_EITHER, nullptr}, found, 8, &count);
        if (status >= PH_OK) continue;
        require(status == PH_ERR_PEER, "status after a death");
        break;
      }
      const ph_status status = ph_wait(lane.c_context(), {victim, PH_REMOTE, nullptr}, PH_FOREVER);
      require(status == PH_ERR_PEER, "wait for a dead rank");
    });
  if (context.rank() == victim) {
    photon::Context& own = context;
    own.wait();  // for the others' word that they are at it
    ::kill(::getpid(), SIGKILL);
  }
  if (context.rank() == 0) require(context.notify(victim, 1), "notify");
  for (auto& thread : threads) thread.join();
  std::printf("over\n");
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "";
  try {
    photon::Context context;
    if (how == "work") return work(context);
    if (how == "one_side") return one_side(context);
    if (how == "die") return die(context);
  } catch (const photon::Error& error) {
    std::fprintf(stderr, "%s: %s\n", ph_status_text(error.status()), error.what());
    return 4;
  }
  return 2;
}
