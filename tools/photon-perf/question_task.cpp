// task-rate: tasks a second of one PE whose handlers each send the next message, with 64 alive; and
// of handlers that enqueue their message again with a random priority. The network is looked at as
// ever. The limit is a ring of messages and a table of functions, with nothing else in the loop.
#include <photon/task.h>

#include <array>
#include <vector>

#include "clock.hpp"
#include "contest.hpp"
#include "memory_row.hpp"
#include "task_pe.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kAlive = 64;
constexpr std::uint64_t kBodyBytes = 16;
// Of a run at least so many tasks for each message that is alive: the messages are made for it, and
// the first ones to run have never been in the caches.
constexpr std::uint64_t kRounds = 4;

// Cheap random numbers (Marsaglia, "Xorshift RNGs", 2003): they are part of every handler.
class Numbers {
 public:
  std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }

 private:
  std::uint64_t state_ = 88172645463325252;
};

// What two bare arrays can do: the next message, its function, and its place in the ring again.
class BareLoop {
 public:
  BareLoop() {
    for (std::uint64_t i = 0; i < kAlive; ++i) ring_[i] = &messages_[i];
  }
  Outcome run(std::uint64_t count) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      Message& message = *ring_[taken_++ % kAlive];
      table_[message.handler](*this, message);
    }
    return {{}, static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns)};
  }

 private:
  struct alignas(64) Message {
    std::uint64_t handler = 0;
    std::uint64_t value = 0;
  };
  using Handler = void (*)(BareLoop&, Message&);
  static void send_on(BareLoop& self, Message& message) {
    ++message.value;
    self.ring_[self.put_++ % kAlive] = &message;
  }

  std::array<Message, kAlive> messages_{};
  std::array<Message*, kAlive> ring_{};
  std::vector<Handler> table_ = {send_on};  // of the heap: its call is not known here
  std::uint64_t taken_ = 0;
  std::uint64_t put_ = 0;
};

// Only the PE of rank 0 runs tasks.
class Tasks {
 public:
  explicit Tasks(Job& job) : pe_(job) {
    for (const ph_task_handler handler : {send_on, by_number, by_vector}) {
      std::uint32_t number = 0;
      check(ph_task_register(pe_, handler, this, &number));
    }
    check(ph_task_agree(pe_));
  }

  enum Kind : std::uint32_t { kFirstCome, kNumber, kVector };  // numbers of handlers

  Outcome run(Kind kind, std::uint64_t alive, std::uint64_t count) {
    left_ = count;
    for (std::uint64_t i = 0; i < alive; ++i) {
      ph_task_message* message = nullptr;
      check(ph_task_alloc(pe_, kBodyBytes, &message));
      ph_task_set_handler(message, kind);
      again(kind, message);
    }
    const auto start_ns = now_ns();
    check(ph_task_run(pe_, static_cast<std::int64_t>(count), nullptr));
    const auto took_ns = now_ns() - start_ns;
    check(ph_task_run(pe_, 0, nullptr));  // what is left frees its messages
    return {{}, static_cast<double>(count) * 1e9 / static_cast<double>(took_ns)};
  }

 private:
  static void send_on(ph_task_pe*, ph_task_message* message, void* user) {
    static_cast<Tasks*>(user)->go_on(kFirstCome, message);
  }
  static void by_number(ph_task_pe*, ph_task_message* message, void* user) {
    static_cast<Tasks*>(user)->go_on(kNumber, message);
  }
  static void by_vector(ph_task_pe*, ph_task_message* message, void* user) {
    static_cast<Tasks*>(user)->go_on(kVector, message);
  }
  void go_on(Kind kind, ph_task_message* message) {
    if (left_ == 0) {
      check(ph_task_free(pe_, message));
      return;
    }
    --left_;
    again(kind, message);
  }
  void again(Kind kind, ph_task_message* message) {
    if (kind == kFirstCome) return check(ph_task_send(pe_, own_, message));
    auto* words = static_cast<std::uint64_t*>(ph_task_body(message));
    words[0] = numbers_.next();
    ph_task_priority priority{PH_TASK_LONG_FIFO, 64, words};
    if (kind == kVector) {
      words[0] >>= 60;  // many begin alike, so that the last word decides
      words[1] = numbers_.next();
      priority = {PH_TASK_BITS_FIFO, 96, words};
    }
    check(ph_task_enqueue(pe_, message, &priority));
  }
  void check(ph_status status) const { pe_.check(status); }

  TaskPe pe_;
  std::uint32_t own_ = 0;  // rank 0 measures
  std::uint64_t left_ = 0;
  Numbers numbers_;
};

struct Case {
  const char* name;
  Tasks::Kind kind;
  std::uint64_t alive;
};

constexpr Case kCases[] = {{"each sends the next, 64 alive", Tasks::kFirstCome, kAlive},
                           {"64-bit priorities, 1,000 alive", Tasks::kNumber, 1'000},
                           {"64-bit priorities, 100,000 alive", Tasks::kNumber, 100'000},
                           {"96-bit vectors, 1,000 alive", Tasks::kVector, 1'000}};

}  // namespace

void ask_task_rate(Bench& bench) {
  const MemoryRow memory;
  Tasks tasks(bench.job);  // all processes have PEs
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  BareLoop bare;
  for (const Case& one : kCases) {
    Contest contest;
    contest.unit = Unit::per_second;
    contest.size_bytes = kBodyBytes;
    contest.least = contest.first = kRounds * one.alive;
    const bool measures = team.index() == 0;
    contest.ours = {one.name, [&](std::uint64_t count) {
                      team.barrier();
                      return measures ? tasks.run(one.kind, one.alive, count) : Outcome{};
                    }};
    contest.limits = {{"a ring and a table", [&](std::uint64_t count) {
                         team.barrier();
                         return measures ? bare.run(count) : Outcome{};
                       }}};
    auto row = row_of(bench, contest, compete(team, contest, bench.options.iterations));
    row.transport = "none";
    bench.report.add(std::move(row));
  }
  memory.add(bench);
}

}  // namespace photon::perf
