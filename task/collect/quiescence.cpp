#include "task/collect/quiescence.hpp"

#include <algorithm>

#include "task/run/sends.hpp"

namespace photon::task {

Quiescence::Quiescence(Pe& pe)
    : pe_(pe), deaths_(pe), tally_(pe.shared().processes), last_(pe.shared().processes) {}

Quiescence::~Quiescence() {
  for (const Request& request : requests_) pe_.pool().free(*request.answer);
}

// Null: there was no memory for it. What is for a lost process is freed.
void Quiescence::send(std::uint32_t to, Message* message) noexcept {
  if (message == nullptr)
    Machine::die("PE %u has no memory to count for quiescence: keep less at a time", pe_.number());
  const ph_status status = send_of_kind(pe_, Kind::wave, to, *message);
  if (status != PH_OK && !is_lost(status)) pe_.pool().free(*message);
}

// False: that process is lost.
bool Quiescence::pass(std::uint32_t to, const WaveFront& front, const ProcessSet& dead) noexcept {
  Message* message = write(pe_.pool(), front, &dead);
  if (message == nullptr)
    Machine::die("PE %u has no memory to count for quiescence: keep less at a time", pe_.number());
  const ph_status status = send_of_kind(pe_, Kind::wave, to, *message);
  if (status == PH_OK) return true;
  if (!is_lost(status)) pe_.pool().free(*message);
  return false;
}

void Quiescence::take(Message& message) {
  const std::uint32_t processes = pe_.shared().processes;
  const std::uint32_t source = message.source;
  if (const std::optional<WaveFront> front = read(message, processes)) {
    switch (front->step) {
      case Step::ask: on_ask(source, front->name.number); break;
      case Step::done: on_done(front->name.number); break;
      case Step::answer: on_answer(*front, message); break;
      case Step::begin: {
        ProcessSet dead(processes);
        dead.take(set_in(message, 0, processes));
        on_begin(front->name, source, dead);
        break;
      }
    }
  }
  pe_.pool().free(message);
}

// Requests.

void Quiescence::ask(Message& answer) {
  requests_.reserve(requests_.size() + 1);
  watch();
  look_for_deaths();
  requests_.push_back({++requests_made_, &answer});
  ask_leader(requests_made_);
}

void Quiescence::ask_leader(std::uint64_t number) noexcept {
  send(first_of(leader_), write(pe_.pool(), {Step::ask, 0, {0, number}, 0, 0}));
}

void Quiescence::on_done(std::uint64_t number) noexcept {
  const auto request = std::ranges::find(requests_, number, &Request::number);
  if (request == requests_.end()) return;
  Message& answer = *request->answer;
  requests_.erase(request);
  answer.target = answer.source = pe_.number();
  pe_.balance().created += 1;
  pe_.push_own(answer);
}

// Waves.

void Quiescence::on_begin(const WaveName& name, std::uint32_t parent, const ProcessSet& dead) {
  if (name <= wave_.name || dead.has(pe_.shared().process) ||
      dead.has(static_cast<std::uint32_t>(name.leader)))
    return;
  static_cast<void>(deaths_.look());
  deaths_.heed(dead);
  wave_.name = name;
  wave_.parent = parent;
  wave_.is_open = true;
  wave_.awaited.clear();
  tally_.begin(deaths_.created(), deaths_.processed(), deaths_.dead());
  if (pe_.rank() == 0) pass_on(dead);
  if (wave_.awaited.empty())
    answer();
  else
    watch();
}

// To the siblings, and to the processes below this one: places 4 p + 1 to 4 p + 4, where p is the
// place of this one among those that live, counted from the leader on.
void Quiescence::pass_on(const ProcessSet& dead) {
  const Shared& shared = pe_.shared();
  const WaveFront front{Step::begin, 0, wave_.name, 0, 0};
  for (std::uint32_t rank = 1; rank < shared.pes; ++rank) {
    wave_.awaited.push_back(pe_.number() + rank);
    static_cast<void>(pass(pe_.number() + rank, front, dead));
  }
  std::uint64_t place = 0;
  std::uint64_t first_child = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < shared.processes; ++i) {
    const auto process = static_cast<std::uint32_t>((wave_.name.leader + i) % shared.processes);
    if (dead.has(process)) continue;
    if (process == shared.process) first_child = 4 * place + 1;
    if (first_child <= place && place < first_child + 4) {
      if (pass(first_of(process), front, dead))
        wave_.awaited.push_back(first_of(process));
      else
        tally_.is_void = true;
    }
    ++place;
  }
}

void Quiescence::on_answer(const WaveFront& front, Message& message) {
  if (!wave_.is_open || front.name != wave_.name || std::erase(wave_.awaited, message.source) == 0)
    return;
  const std::uint32_t processes = pe_.shared().processes;
  Tally its(processes);
  its.created = front.created;
  its.processed = front.processed;
  its.is_void = front.is_void != 0;
  its.any.take(set_in(message, 0, processes));
  its.every.take(set_in(message, 1, processes));
  tally_.add(its);
  if (wave_.awaited.empty()) answer();
}

void Quiescence::answer() {
  wave_.is_open = false;
  if (wave_.parent == pe_.number()) return end_wave();
  const WaveFront front{Step::answer, tally_.is_void ? 1U : 0U, wave_.name, tally_.created,
                        tally_.processed};
  send(wave_.parent, write(pe_.pool(), front, &tally_.any, &tally_.every));
}

// The leader.

void Quiescence::on_ask(std::uint32_t pe, std::uint64_t number) {
  if (pe_.rank() != 0) return;
  for (const Asked& asked : asked_)
    if (asked.pe == pe && asked.number == number) return;
  asked_.push_back({pe, number, waves_begun_ + 1});
  if (is_wave_under_way_) return;
  if (pause_timer_ != 0) pe_.calls().timers().cancel(pause_timer_);
  pause_timer_ = 0;
  pause_us_ = kFirstPauseUs;
  begin_wave();
}

void Quiescence::begin_wave() {
  is_wave_under_way_ = true;
  static_cast<void>(deaths_.look());
  const ProcessSet dead = deaths_.dead();
  on_begin({pe_.shared().process, ++waves_begun_}, pe_.number(), dead);
}

// A wave is compared with the one before it. Even ones are repeated at once; where that has brought
// another sum, or a wave is not even, something was under way, and the next one waits.
void Quiescence::end_wave() {
  is_wave_under_way_ = false;
  deaths_.heed(tally_.any);
  const bool was_even = has_last_;
  has_last_ = tally_.is_even();
  if (was_even && tally_ == last_) give_answers();
  if (has_last_) last_ = tally_;
  if (asked_.empty()) {
    has_last_ = false;
    return;
  }
  if (has_last_ && !was_even)
    begin_wave();
  else
    pause();
}

void Quiescence::give_answers() {
  for (const Asked& asked : asked_)
    if (asked.from_wave <= waves_begun_)
      send(asked.pe, write(pe_.pool(), {Step::done, 0, {0, asked.number}, 0, 0}));
  std::erase_if(asked_, [this](const Asked& asked) { return asked.from_wave <= waves_begun_; });
}

void Quiescence::pause() {
  pause_timer_ = pe_.calls().timers().arm(Timers::after(pe_.shared().clock.now_ns(), pause_us_), 0,
                                          {on_pause, this});
  pause_us_ = std::min(2 * pause_us_, kLongestPauseUs);
}

void Quiescence::on_pause(ph_task_pe* /*pe*/, void* self) {
  Quiescence& one = *static_cast<Quiescence*>(self);
  one.pause_timer_ = 0;
  one.begin_wave();
}

// Deaths, which are no news that anything wakes for.

void Quiescence::watch() {
  if (is_watching_) return;
  pe_.calls().timers().arm(Timers::after(pe_.shared().clock.now_ns(), kWatchUs), 0,
                           {on_watch, this});
  is_watching_ = true;
}

void Quiescence::on_watch(ph_task_pe* /*pe*/, void* self) {
  Quiescence& one = *static_cast<Quiescence*>(self);
  one.is_watching_ = false;
  one.look_for_deaths();
  if (one.wave_.is_open || !one.requests_.empty()) one.watch();
}

void Quiescence::look_for_deaths() {
  static_cast<void>(deaths_.look());
  const auto is_dead = [this](std::uint32_t pe) {
    return deaths_.dead().has(pe / pe_.shared().pes);
  };
  if (wave_.is_open && std::erase_if(wave_.awaited, is_dead) != 0) {
    tally_.is_void = true;
    if (wave_.awaited.empty()) answer();
  }
  if (leader_ == deaths_.lowest()) return;
  leader_ = deaths_.lowest();
  for (const Request& request : requests_) ask_leader(request.number);
}

}  // namespace photon::task
