#include "crews.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "clock.hpp"
#include "failure.hpp"
#include "limit_layout.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::size_t kCapacity = 64;    // completions of one probe
constexpr std::uint64_t kReserved = 16;  // puts that a thread takes upon itself at a time
constexpr unsigned kPatience = 4;        // empty probes before a thread lets the others in

// What the threads of one lane have in common; each on lines of its own.
struct Crew {
  ph_context* lane = nullptr;
  std::uint64_t count = 0;
  alignas(128) std::atomic<std::uint64_t> reserved{0};
  alignas(128) std::atomic<std::uint64_t> acknowledged{0};
  alignas(128) std::atomic<std::uint64_t> locals{0};
  alignas(128) std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> credited{0};
  std::atomic<std::uint64_t> sum{0};  // of the ids that were taken
};

// One thread of a crew.
class Hand {
 public:
  Hand(Crew& crew, ph_rank peer, const ph_region& landing, bool is_alone)
      : crew_(crew), peer_(peer), landing_(landing), is_alone_(is_alone) {}

  void send() {
    while (crew_.acknowledged < crew_.count || crew_.locals < crew_.count) {
      post_some();
      probe([&](const ph_completion& one) {
        auto known = crew_.acknowledged.load(std::memory_order_relaxed);
        while (one.id > known && !crew_.acknowledged.compare_exchange_weak(known, one.id)) {
        }
      });
    }
  }

  void serve() {
    probe([](const ph_completion&) {});
  }

  void receive() {
    while (crew_.credited < crew_.count) {
      std::uint64_t count = 0;
      std::uint64_t sum = 0;
      probe([&](const ph_completion& one) {
        ++count;
        sum += one.id;
      });
      if (count != 0) {
        crew_.sum.fetch_add(sum, std::memory_order_relaxed);
        crew_.taken.fetch_add(count);
      }
      give_credit();
    }
  }

 private:
  void post_some() {
    if (mine_ == end_) {
      const auto begun = crew_.reserved.load(std::memory_order_relaxed);
      if (begun >= crew_.count || begun - crew_.acknowledged >= kRingSlots) return;
      mine_ = crew_.reserved.fetch_add(kReserved);
      end_ = std::min(mine_ + kReserved, crew_.count);
      mine_ = std::min(mine_, end_);
    }
    while (mine_ != end_) {
      const ph_target place = ph_at(&landing_, mine_ % kRingSlots * kWord);
      const auto status = ph_put_u64(crew_.lane, peer_, {&mine_, kWord}, place, {mine_, mine_});
      if (status == PH_AGAIN) return;
      expect(status, "putting");
      ++mine_;
    }
  }

  void give_credit() {
    const std::uint64_t taken = crew_.taken;
    std::uint64_t credited = crew_.credited;
    if (taken == credited || (taken - credited < kCreditInterval && taken < crew_.count)) return;
    if (!crew_.credited.compare_exchange_strong(credited, taken)) return;
    for (;;) {
      const auto status = ph_notify(crew_.lane, peer_, taken);
      if (status != PH_AGAIN) return expect(status, "notifying");
      std::size_t none = 0;
      expect(ph_probe(crew_.lane, {PH_ANY_RANK, PH_LOCAL, nullptr}, nullptr, 0, &none), "probing");
    }
  }

  template <class Take>
  void probe(Take take) {
    ph_completion found[kCapacity];
    std::size_t count = 0;
    expect(ph_probe(crew_.lane, {PH_ANY_RANK, PH_EITHER, nullptr}, found, kCapacity, &count),
           "probing");
    std::uint64_t locals = 0;
    for (std::size_t i = 0; i < count; ++i) {
      expect(found[i].status, "completing a put");
      if (found[i].kind == PH_LOCAL)
        ++locals;
      else
        take(found[i]);
    }
    if (locals != 0) crew_.locals.fetch_add(locals);
    empty_ = count == 0 ? empty_ + 1 : 0;
    if (is_alone_ || empty_ < kPatience) return;
    empty_ = 0;
    std::this_thread::yield();
  }

  static void expect(int status, const char* doing) {
    if (status != PH_OK)
      throw Failure(std::string("while ") + doing + ": " +
                    ph_status_text(static_cast<ph_status>(status)));
  }

  Crew& crew_;
  const ph_rank peer_;
  const ph_region landing_;
  const bool is_alone_;  // this rank's only thread: nobody else wants the core
  std::uint64_t mine_ = 0;
  std::uint64_t end_ = 0;
  unsigned empty_ = 0;
};

[[noreturn]] void give_up() {
  try {
    throw;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "photon-perf: threads: %s\n", why.what());
  }
  std::_Exit(1);  // the others wait for this thread, here and at the peer
}

}  // namespace

Crews::Crews(Job& job, Team& team)
    : job_(job), team_(team), landing_(job, MemoryKind::alloc, kRingSlots * kWord) {
  for (std::uint32_t number = 1; number <= kMost; ++number) {
    ph_context* lane = nullptr;
    job.check(ph_lane_open(job.context(), number, &lane), "opening a lane");
    lanes_.push_back(lane);
  }
  team.exchange(landing_.region());
  peer_landing_ = team.card_of<ph_region>(team.other());
  for (std::uint32_t thread = 0; thread < kMost; ++thread)
    threads_.emplace_back([this, thread] { live(thread); });
}

void Crews::live(std::uint32_t thread) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    news_.wait(lock, [&] { return turn_ != seen; });
    seen = turn_;
    if (!work_) return;
    lock.unlock();
    work_(thread);
    lock.lock();
    if (--away_ == 0) news_.notify_all();
  }
}

Crews::~Crews() {
  {
    const std::scoped_lock lock(mutex_);
    work_ = nullptr;
    ++turn_;
  }
  news_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (ph_context* lane : lanes_) static_cast<void>(ph_lane_close(lane));
}

Outcome Crews::run(std::uint32_t threads_count, bool own_lanes, std::uint64_t count) {
  const std::uint32_t crews_count = own_lanes ? threads_count : 1;
  std::vector<Crew> crews(crews_count);
  for (std::uint32_t i = 0; i < crews_count; ++i) {
    crews[i].lane = own_lanes ? lanes_[i] : job_.context();
    crews[i].count = std::max<std::uint64_t>(1, count / crews_count);
  }
  const bool sends = team_.index() == 0;
  std::atomic<bool> over = false;
  const auto work = [&](std::uint32_t thread) {
    if (thread >= threads_count) return;
    try {
      Hand hand(crews[thread % crews_count], team_.other(), peer_landing_, threads_count == 1);
      sends ? hand.send() : hand.receive();
      {
        const std::scoped_lock lock(mutex_);
        if (--working_ == 0) news_.notify_all();
      }
      while (!over) hand.serve();  // what was accepted leaves while its sender probes
    } catch (...) {
      give_up();
    }
  };
  const auto await = [this](std::unique_lock<std::mutex>& lock, const std::uint32_t& number) {
    news_.wait(lock, [&] { return number == 0; });
  };
  team_.barrier();
  const auto start_ns = now_ns();
  std::unique_lock lock(mutex_);
  work_ = work;
  working_ = threads_count;
  away_ = kMost;
  ++turn_;
  news_.notify_all();
  await(lock, working_);
  const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
  lock.unlock();
  team_.barrier_asleep();
  over = true;
  lock.lock();
  await(lock, away_);
  Outcome outcome;
  std::uint64_t all = 0;
  for (const Crew& crew : crews) {
    all += crew.count;
    if (!sends && crew.sum != crew.count * (crew.count - 1) / 2)
      throw Failure("the ids that arrived are not the ids that were sent");
  }
  if (sends) outcome.per_second = static_cast<double>(all) * 1e9 / elapsed_ns;
  return outcome;
}

}  // namespace photon::perf
