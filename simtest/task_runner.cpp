#include <fmt/core.h>

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "simtest/task_case.hpp"
#include "simtest/task_oracle.hpp"
#include "simtest/task_transfers.hpp"
#include "simtest/world.hpp"
#include "task/api/checks.hpp"
#include "task/run/crew.hpp"

namespace photon::simtest {

namespace {

using transport::sim::Random;

// How a task gets to where it runs.
enum class Way : std::uint8_t {
  send,
  copy,
  node,
  broadcast,
  broadcast_with_self,
  broadcast_to_processes,
  enqueue,
  enqueue_node
};
constexpr std::uint64_t kWays = 8;

class TaskRun {
 public:
  TaskRun(const TaskCase& one, const World::Settings& settings)
      : one_(one), world_(settings), pes_(one.ranks), making_(one.ranks) {
    Random random = Random(one.seed).stream(0x64656174);
    asker_ = static_cast<std::uint32_t>(random.up_to(one.ranks - 1));
    if (one.deaths && one.ranks > 1 && random.up_to(2) == 0)
      victim_ = (asker_ + 1 + static_cast<std::uint32_t>(random.up_to(one.ranks - 2))) % one.ranks;
    death_in_ns_ = random.up_to(300'000);
    notice_ns_ = random.up_to(100'000);
    world_.on_death([this](ph_rank rank) {
      oracle_.died(rank);
      making_ -= pes_[rank].making;
    });
  }

  TaskResult run() {
    world_.run(
        [this](ph_rank rank) {
          body(rank);
          if (!oracle_.finding().empty()) give_up();
        },
        [this] {
          oracle_.report(fmt::format("stuck with{}", oracle_.names_left()));
          give_up();
        });
    for (Seat& seat : pes_)
      if (seat.pe != nullptr) leave(seat);
    world_.bury();
    TaskResult result;
    result.has_death = victim_ != kNobody;
    result.transfers = transfers_.over();
    result.finding = oracle_.finding();
    result.tasks = oracle_.tasks();
    result.sleeps = sleeps_;
    result.waited = waited_;
    result.simulated_ns = world_.now_ns();
    result.digest = oracle_.digest();
    return result;
  }

 private:
  struct Seat {
    TaskRun* run = nullptr;
    ph_task_pe* pe = nullptr;
    std::uint32_t task = 0, stop = 0, quiet = 0;  // handlers
    std::uint32_t making = 1;                     // it may make tasks now
  };
  // What a task is to be, drawn by who makes it.
  struct Plan {
    Way way;
    std::uint32_t target;
    std::uint64_t size_bytes;
  };

  void body(ph_rank rank);
  void finish(Seat& seat, ph_rank rank);
  void begin_or_end(Seat& seat, bool begins);
  // Every wait ends, and all PEs leave their runs.
  void give_up() {
    if (one_.speaks) fmt::print(stderr, "seed {}: {}\n", one_.seed, oracle_.finding());
    world_.give_up();
    for (const Seat& seat : pes_)
      if (seat.pe != nullptr) leave(seat);
  }
  static void leave(const Seat& seat) {
    task::of(seat.pe).stop();
    task::of(seat.pe).machine().wake();
  }
  bool must(ph_status status, const char* call) {
    if (status == PH_OK) return true;
    oracle_.report(fmt::format("{}: {}", call, ph_status_text(status)));
    return false;
  }
  static void on_task(ph_task_pe* pe, ph_task_message* message, void* user) {
    Seat& seat = *static_cast<Seat*>(user);
    seat.run->task(seat, pe, message);
  }
  static void on_quiet(ph_task_pe* pe, ph_task_message* message, void* user) {
    Seat& seat = *static_cast<Seat*>(user);
    ph_task_free(pe, message);
    seat.run->quiet(seat);
  }
  static void on_stop(ph_task_pe* pe, ph_task_message* message, void*) {
    ph_task_free(pe, message);
    ph_task_stop(pe);
  }
  void task(Seat& seat, ph_task_pe* pe, ph_task_message* message);
  void make_children(Seat& seat, const TaskFront& front);
  void quiet(Seat& seat);
  void end(Seat& seat);
  // A call that sends to a PE.
  void sent(ph_status status, const TaskFront& front, std::uint32_t target, const char* call) {
    if (task::is_lost(status) && oracle_.is_dead(target)) return oracle_.lost(front, target);
    must(status, call);
  }
  bool is_over(ph_rank rank) const { return !oracle_.finding().empty() || oracle_.is_dead(rank); }

  Plan plan(Random& random, std::uint32_t budget) const;
  static std::uint64_t draw_size(Random& random);
  void give(Seat& seat, Random& random, const TaskFront& front, const Plan& plan);
  void give_one(Seat& seat, const TaskFront& front, const Plan& plan);
  void give_to_all(Seat& seat, const TaskFront& front, const Plan& plan);
  void give_with_priority(Seat& seat, Random& random, const TaskFront& front, const Plan& plan);
  ph_task_message* message_of(Seat& seat, const TaskFront& front, const Plan& plan);
  std::uint32_t own(const Seat& seat) const noexcept {
    return static_cast<std::uint32_t>(&seat - pes_.data());
  }
  static std::int64_t read_ns(void* world) noexcept {
    return static_cast<std::int64_t>(static_cast<World*>(world)->now_ns());
  }

  const TaskCase one_;
  World world_;
  TaskOracle oracle_;
  TaskTransfers transfers_{oracle_};
  std::vector<Seat> pes_;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  std::uint32_t making_;  // PEs that may make more tasks now
  std::uint32_t asker_ = 0;
  std::uint32_t victim_ = kNobody;
  std::uint64_t death_in_ns_ = 0;  // after it has begun
  std::uint64_t notice_ns_ = 0;
  std::uint64_t sleeps_ = 0;
  std::uint64_t waited_ = 0;
};

void TaskRun::body(ph_rank rank) {
  Seat& seat = pes_[rank];
  seat.run = this;
  ph_task_config config{};
  config.size = sizeof config;
  config.context = world_.context(rank);
  ph_error error{};
  if (ph_task_start(&config, &seat.pe, &error) != PH_OK)
    return oracle_.report(fmt::format("ph_task_start: {}", error.text));
  task::of(seat.pe).shared().clock = {read_ns, &world_};
  must(ph_task_register(seat.pe, on_task, &seat, &seat.task), "ph_task_register");
  must(ph_task_register(seat.pe, on_stop, &seat, &seat.stop), "ph_task_register");
  must(ph_task_register(seat.pe, on_quiet, &seat, &seat.quiet), "ph_task_register");
  transfers_.enroll(seat.pe);
  const ph_status status = ph_task_agree(seat.pe);
  if (victim_ == kNobody || !task::is_lost(status)) must(status, "ph_task_agree");
  if (rank == victim_) world_.die(rank, {world_.now_ns() + death_in_ns_, notice_ns_, 0});
  make_children(seat, {rank, one_.tasks / one_.ranks, kUnordered});
  begin_or_end(seat, false);
  if (rank == asker_) must(ph_task_quiesce(seat.pe, seat.quiet), "ph_task_quiesce");
  if (!is_over(rank)) must(ph_task_run(seat.pe, -1, nullptr), "ph_task_run");
  finish(seat, rank);
}

void TaskRun::finish(Seat& seat, ph_rank rank) {
  ph_task_counts counts{};
  counts.size = sizeof counts;
  ph_task_counters(seat.pe, &counts);
  sleeps_ += counts.sleeps;
  waited_ += counts.waited;
  if (counts.dropped != 0 && victim_ == kNobody)
    oracle_.report(fmt::format("PE {} has dropped messages", rank));
  // Who is to die does so before it waits for the others.
  while (rank == victim_ && !is_over(rank)) world_.pause(1000);
  ph_task_pe* pe = std::exchange(seat.pe, nullptr);
  if (is_over(rank)) {  // not all has left, and nobody waits for it
    delete task::of(pe).shared().crew;
    return;
  }
  const ph_status ended = ph_task_end(pe);
  if (victim_ == kNobody || !task::is_lost(ended)) must(ended, "ph_task_end");
  const ph_status status = ph_finalize(world_.context(rank));
  if (victim_ == kNobody || !task::is_lost(status)) must(status, "ph_finalize");
}

void TaskRun::task(Seat& seat, ph_task_pe* pe, ph_task_message* message) {
  begin_or_end(seat, true);
  if (!oracle_.met(own(seat), message, world_.now_ns())) return end(seat);
  TaskFront front{};
  std::memcpy(&front, ph_task_body(message), sizeof front);
  Random random = Random(one_.seed).stream(front.number);
  if (random.up_to(7) == 0) world_.pause(random.up_to(30'000));
  make_children(seat, front);
  if (one_.transfers && random.up_to(5) == 0)
    transfers_.offer(pe, own(seat), static_cast<std::uint32_t>(random.up_to(one_.ranks - 1)),
                     random);
  must(ph_task_free(pe, message), "ph_task_free");
  begin_or_end(seat, false);
}

void TaskRun::begin_or_end(Seat& seat, bool begins) {
  seat.making = begins ? 1 : 0;
  making_ += begins ? 1 : ~std::uint32_t{0};
}

void TaskRun::quiet(Seat& seat) {
  if (making_ != 0) oracle_.report("it is quiet, and a task runs");
  oracle_.quiet();
  transfers_.quiet();
  end(seat);
}

// All PEs stop.
void TaskRun::end(Seat& seat) {
  for (std::uint32_t to = 0; to < one_.ranks; ++to) {
    ph_task_message* message = nullptr;
    if (!must(ph_task_alloc(seat.pe, 0, &message), "ph_task_alloc")) return;
    ph_task_set_handler(message, seat.stop);
    const ph_status status = ph_task_send(seat.pe, to, message);
    if (!oracle_.is_dead(to)) must(status, "ph_task_send");
  }
}

void TaskRun::make_children(Seat& seat, const TaskFront& front) {
  Random random = Random(one_.seed ^ 0x6368696c64).stream(front.number);
  std::uint32_t left = front.budget;
  while (left != 0) {
    const auto share = static_cast<std::uint32_t>(1 + random.up_to(left - 1));
    const std::uint64_t number = random.next();
    give(seat, random, {number, share - 1, kUnordered}, plan(random, share - 1));
    left -= share;
  }
}

std::uint64_t TaskRun::draw_size(Random& random) {
  constexpr std::uint64_t kMost[] = {24, 40, 200, 5000, 100'000};
  const std::uint64_t kind = random.up_to(15);
  const std::uint64_t most = kMost[kind < 6    ? 0
                                   : kind < 10 ? 1
                                   : kind < 13 ? 2
                                   : kind < 15 ? 3
                                               : 4];
  return sizeof(TaskFront) + random.up_to(most);
}

TaskRun::Plan TaskRun::plan(Random& random, std::uint32_t budget) const {
  const auto drawn = static_cast<Way>(random.up_to(kWays - 1));
  const bool is_many = drawn == Way::broadcast || drawn == Way::broadcast_with_self ||
                       drawn == Way::broadcast_to_processes;
  Plan plan{drawn, static_cast<std::uint32_t>(random.up_to(one_.ranks - 1)), draw_size(random)};
  // To many only what has no more to make, and not every time.
  if (is_many && (budget != 0 || random.up_to(2) != 0)) plan.way = Way::send;
  return plan;
}

ph_task_message* TaskRun::message_of(Seat& seat, const TaskFront& front, const Plan& plan) {
  ph_task_message* message = nullptr;
  if (!must(ph_task_alloc(seat.pe, plan.size_bytes, &message), "ph_task_alloc")) return nullptr;
  ph_task_set_handler(message, seat.task);
  TaskOracle::fill(message, front);
  return message;
}

void TaskRun::give(Seat& seat, Random& random, const TaskFront& front, const Plan& plan) {
  switch (plan.way) {
    case Way::send:
    case Way::copy:
    case Way::node: return give_one(seat, front, plan);
    case Way::enqueue:
    case Way::enqueue_node: return give_with_priority(seat, random, front, plan);
    default: return give_to_all(seat, front, plan);
  }
}

void TaskRun::give_one(Seat& seat, const TaskFront& drawn, const Plan& plan) {
  TaskFront front = drawn;
  const std::uint64_t carried_max = task::of(seat.pe).shared().carried_bytes;
  const bool is_ordered = plan.way != Way::node && plan.size_bytes + 8 <= carried_max;
  if (is_ordered) front.order = oracle_.next_order(own(seat), plan.target);
  ph_task_message* message = message_of(seat, front, plan);
  if (message == nullptr) return;
  oracle_.made(front, {own(seat), plan.target, plan.size_bytes, false});
  if (plan.way == Way::node) {
    sent(ph_task_send_node(seat.pe, plan.target, message), front, plan.target, "ph_task_send_node");
  } else if (plan.way == Way::send) {
    sent(ph_task_send(seat.pe, plan.target, message), front, plan.target, "ph_task_send");
  } else {
    sent(ph_task_send_copy(seat.pe, plan.target, message), front, plan.target, "ph_task_send_copy");
    TaskOracle::fill(message, {~front.number, 0, 0});  // it is the program's again
    must(ph_task_free(seat.pe, message), "ph_task_free");
  }
}

void TaskRun::give_to_all(Seat& seat, const TaskFront& front, const Plan& plan) {
  ph_task_message* message = message_of(seat, front, plan);
  if (message == nullptr) return;
  const bool with_self = plan.way != Way::broadcast;
  const std::uint32_t flags = (with_self ? PH_TASK_WITH_SELF : 0) |
                              (plan.way == Way::broadcast_to_processes ? PH_TASK_TO_PROCESSES : 0);
  for (std::uint32_t target = 0; target < one_.ranks; ++target)
    if (with_self || target != own(seat))
      oracle_.made(front, {own(seat), target, plan.size_bytes, true});
  must(ph_task_broadcast(seat.pe, message, flags), "ph_task_broadcast");
}

void TaskRun::give_with_priority(Seat& seat, Random& random, const TaskFront& front,
                                 const Plan& plan) {
  ph_task_message* message = message_of(seat, front, plan);
  if (message == nullptr) return;
  oracle_.made(front, {0, own(seat), plan.size_bytes, false});
  const std::uint64_t words[2] = {random.next(), random.next()};
  constexpr std::pair<ph_task_strategy, std::uint32_t> kKinds[] = {
      {PH_TASK_FIFO, 0},       {PH_TASK_LIFO, 0},       {PH_TASK_INT_FIFO, 32},
      {PH_TASK_LONG_LIFO, 64}, {PH_TASK_LONG_FIFO, 64}, {PH_TASK_BITS_FIFO, 21}};
  const auto& [strategy, bits] = kKinds[random.up_to(std::size(kKinds) - 1)];
  const ph_task_priority priority{strategy, bits, words};
  if (plan.way == Way::enqueue)
    must(ph_task_enqueue(seat.pe, message, &priority), "ph_task_enqueue");
  else
    must(ph_task_enqueue_node(seat.pe, message, &priority), "ph_task_enqueue_node");
}

World::Settings settings_of(const TaskCase& one) {
  constexpr std::uint64_t kDelaysNs[] = {0, 200, 1000, 20'000};
  Random random = Random(one.seed).stream(0x7461736b);
  World::Settings settings;
  settings.seed = one.seed;
  settings.ranks = one.ranks;
  settings.network.profile = one.profile;
  settings.network.uneven = true;
  settings.network.fault = one.fault;
  settings.network.max_delay_ns = kDelaysNs[random.up_to(std::size(kDelaysNs) - 1)];
  const auto pick = [&](const char* name, std::initializer_list<const char*> values) {
    settings.options.emplace_back(name, values.begin()[random.up_to(values.size() - 1)]);
  };
  pick("ring_lines", {"64", "128", "512"});
  pick("ledger_slots", {"8", "64", "512"});
  pick("bulk_bytes", {"8192", "65536", "2097152"});
  pick("am_slots", {"4", "16", "128"});
  pick("am_carried_max", {"1024", "4096", "32768"});
  pick("am_record_max", {"48", "192", "1024"});
  pick("requests", {"16", "64", "4096"});
  pick("am_queue_bytes", {"65536", "67108864"});
  settings.options.emplace_back("bulk_chunk", "1024");
  settings.options.emplace_back("am_aggregate_bytes", "256");
  settings.options.emplace_back("spin_us", "0");
  settings.options.emplace_back("oversubscribed", "no");
  settings.options.emplace_back("arena_bytes", "1048576");
  return settings;
}

}  // namespace

TaskResult run_task_case(const TaskCase& one) { return TaskRun(one, settings_of(one)).run(); }

}  // namespace photon::simtest
