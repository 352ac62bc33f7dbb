#include "task/collect/quiescence.hpp"

#include <algorithm>
#include <optional>

#include "task/run/sends.hpp"

namespace photon::task {

Quiescence::Quiescence(Pe& pe)
    : pe_(pe),
      deaths_(pe),
      tally_(pe.shared().processes),
      told_(pe.shared().processes),
      its_(pe.shared().processes),
      last_(pe.shared().processes) {
  living_.reserve(pe.shared().processes);
}

Quiescence::~Quiescence() {
  for (const Request& request : requests_) pe_.pool().free(*request.answer);
}

// Null: there was no memory for it. False: that process is lost.
bool Quiescence::send(std::uint32_t to, Message* message) noexcept {
  if (message == nullptr)
    Machine::die("PE %u has no memory to count for quiescence: keep less at a time", pe_.number());
  const ph_status status = send_of_kind(pe_, Kind::wave, to, *message);
  if (status != PH_OK && !is_lost(status)) pe_.pool().free(*message);
  return status == PH_OK;
}

void Quiescence::take(Message& message) {
  const std::uint32_t processes = pe_.shared().processes;
  const std::uint32_t source = message.source;
  if (const std::optional<WaveFront> front = read(message, processes)) {
    switch (front->step) {
      case Step::ask: on_ask(source, front->number); break;
      case Step::done: on_done(source, front->number); break;
      case Step::answer: on_answer(*front, message); break;
      case Step::begin:
        told_.take(set_in(message, 0, processes));
        if (is_parent(source, front->name(), told_)) on_begin(front->name(), source, told_);
        break;
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
  static_cast<void>(send(first_of(leader_), write(pe_.pool(), {Step::ask, 0, 0, 0, number, 0, 0})));
}

void Quiescence::on_done(std::uint32_t pe, std::uint64_t number) noexcept {
  if (pe != first_of(leader_)) return;  // this one was not asked, or not any more
  const auto is_answered = [number](const Request& one) { return one.number <= number; };
  for (const Request& request : requests_) {
    if (!is_answered(request)) continue;
    request.answer->target = request.answer->source = pe_.number();
    pe_.balance().created += 1;
    pe_.push_own(*request.answer);
  }
  std::erase_if(requests_, is_answered);
}

// Waves.

void Quiescence::find_living(std::uint32_t leader, const ProcessSet& dead) {
  living_.clear();
  for (std::uint32_t process = leader + 1; process < pe_.shared().processes; ++process)
    if (!dead.has(process)) living_.push_back(process);
}

// The parent is the first PE of this process, or of the process above it in the tree. The leader is
// the lowest process of those that it takes for living.
bool Quiescence::is_parent(std::uint32_t pe, const WaveName& name, const ProcessSet& dead) {
  const Shared& shared = pe_.shared();
  for (std::uint32_t process = 0; process < name.leader; ++process)
    if (!dead.has(process)) return false;
  if (dead.has(name.leader)) return false;
  find_living(name.leader, dead);
  if (pe_.rank() != 0) return pe == first_of(shared.process);
  const Route route = route_of(name);
  const std::optional<std::uint64_t> place = route.place_of(shared.process);
  if (!place) return false;
  return *place == 0 ? pe == pe_.number() : pe == first_of(route.at(Route::parent_of(*place)));
}

// With its parent. Where a process lives for this PE that is dead for the leader the wave counts as
// none, and is answered at once: its name may be greater than those of the leader that is right.
void Quiescence::on_begin(const WaveName& name, std::uint32_t parent, const ProcessSet& dead) {
  if (name <= wave_.name) return;
  static_cast<void>(deaths_.look());
  deaths_.heed(dead);
  if (name.leader == deaths_.lowest()) return open_wave(name, parent, dead);
  its_.begin(0, 0, deaths_.dead());
  its_.is_void = true;
  send_answer(name, parent, its_);
}

void Quiescence::open_wave(const WaveName& name, std::uint32_t parent, const ProcessSet& dead) {
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

// The wave goes to the siblings, and to the processes below this one.
void Quiescence::pass_on(const ProcessSet& dead) {
  const Shared& shared = pe_.shared();
  const WaveFront front{Step::begin, 0, 1, wave_.name.leader, wave_.name.number, 0, 0};
  for (std::uint32_t rank = 1; rank < shared.pes; ++rank) {
    wave_.awaited.push_back(pe_.number() + rank);
    static_cast<void>(send(pe_.number() + rank, write(pe_.pool(), front, &dead)));
  }
  const Route route = route_of(wave_.name);
  const Children below = route.children_of(*route.place_of(shared.process));
  for (std::uint32_t i = 0; i < below.count; ++i) {
    const std::uint32_t child = first_of(route.at(below.first + i));
    if (send(child, write(pe_.pool(), front, &dead)))
      wave_.awaited.push_back(child);
    else
      tally_.is_void = true;
  }
}

void Quiescence::on_answer(const WaveFront& front, Message& message) {
  if (!wave_.is_open || front.name() != wave_.name ||
      std::erase(wave_.awaited, message.source) == 0)
    return;
  const std::uint32_t processes = pe_.shared().processes;
  its_.created = front.created;
  its_.processed = front.processed;
  its_.is_void = front.is_void != 0;
  its_.any.take(set_in(message, 0, processes));
  its_.every.take(set_in(message, front.sets - 1U, processes));
  tally_.add(its_);
  if (wave_.awaited.empty()) answer();
}

void Quiescence::answer() {
  wave_.is_open = false;
  if (wave_.parent == pe_.number()) return end_wave();
  send_answer(wave_.name, wave_.parent, tally_);
}

void Quiescence::send_answer(const WaveName& name, std::uint32_t parent,
                             const Tally& tally) noexcept {
  WaveFront front{};
  front.step = Step::answer;
  front.is_void = tally.is_void ? 1 : 0;
  front.sets = tally.any == tally.every ? 1 : 2;
  front.leader = name.leader;
  front.number = name.number;
  front.created = tally.created;
  front.processed = tally.processed;
  static_cast<void>(send(parent, write(pe_.pool(), front, &tally.any, &tally.every)));
}

// The leader.

// Who asks takes all lower processes for dead. Where this PE does not yet, it makes contact with
// those it has never met, looks again and again, and leads when they are dead for it, too.
void Quiescence::on_ask(std::uint32_t pe, std::uint64_t number) {
  if (pe_.rank() != 0 || number == 0) return;
  auto asked = std::ranges::find(asked_, pe, &Asked::pe);
  if (asked == asked_.end()) asked = asked_.insert(asked, {pe, 0, 0});
  if (number <= asked->number) return;
  asked->number = number;
  asked->from_wave = waves_begun_ + 1;
  if (leads()) return lead();
  told_ = ProcessSet(pe_.shared().processes);
  for (std::uint32_t process = 0; process < pe_.shared().process; ++process) told_.add(process);
  deaths_.heed(told_);
  watch();
  look_for_deaths();
}

void Quiescence::lead() {
  if (is_wave_under_way_) return;
  if (pause_timer_ != 0) pe_.calls().timers().cancel(pause_timer_);
  pause_timer_ = 0;
  pause_us_ = kFirstPauseUs;
  begin_wave();
}

void Quiescence::begin_wave() {
  is_wave_under_way_ = true;
  static_cast<void>(deaths_.look());
  told_ = deaths_.dead();
  find_living(pe_.shared().process, told_);
  open_wave({pe_.shared().process, ++waves_begun_}, pe_.number(), told_);
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
      static_cast<void>(
          send(asked.pe, write(pe_.pool(), {Step::done, 0, 0, 0, asked.number, 0, 0})));
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
  if (one.wave_.is_open || !one.requests_.empty() || (!one.asked_.empty() && !one.leads()))
    one.watch();
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
  if (leads() && !asked_.empty()) lead();
  for (const Request& request : requests_) ask_leader(request.number);
}

}  // namespace photon::task
