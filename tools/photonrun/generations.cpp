#include "generations.hpp"

#include <algorithm>
#include <iterator>

namespace photonrun {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

Generations::Generations(Make make) : make_(std::move(make)) { begin_next(); }

void Generations::begin_next() {
  running_.push_back(make_(first_ + static_cast<unsigned>(running_.size())));
  running_.front()->set_oldest();
  for (const auto& [rank, how] : ended_) end(running_.size() - 1, rank, how);
}

void Generations::end(std::size_t i, unsigned rank, ph_launch_gone how) {
  running_[i]->rank_ended(rank, how);
  if (i < kMostServed) running_[i]->settle();
}

void Generations::pass_on(std::size_t i, std::optional<unsigned> ending) {
  for (Exchange::Leaver& leaver : running_[i]->take_leavers()) {
    if (leaver.comes) {
      if (i + 1 == running_.size()) begin_next();
      if (leaver.next) running_[i + 1]->adopt(std::move(leaver));
    } else if (ending != leaver.rank && !ended_.contains(leaver.rank)) {
      constexpr ph_launch_gone kClosed{.how = PH_LAUNCH_CLOSED, .value = 0};
      for (std::size_t later = i + 1; later < running_.size(); ++later)
        end(later, leaver.rank, kClosed);
      ended_.emplace(leaver.rank, kClosed);
    }
  }
}

// What frames have brought wakes nobody, so who is served from now on is so at once.
void Generations::advance() {
  std::size_t served = std::min(running_.size(), kMostServed);
  while (running_.size() > 1 && running_.front()->is_over()) {
    pass_on(0);
    append(complaints_, running_.front()->take_complaints());
    append(reports_, running_.front()->take_reports());
    running_.pop_front();
    running_.front()->set_oldest();
    ++first_;
    served -= std::min<std::size_t>(served, 1);
  }
  for (; served < std::min(running_.size(), kMostServed); ++served) {
    running_[served]->settle();
    pass_on(served);
  }
}

void Generations::want(std::vector<pollfd>& entries) {
  for (std::size_t i = 0; i < std::min(running_.size(), kMostServed); ++i)
    running_[i]->want(entries);
}

// One that is begun meanwhile has no entries yet, but may have frames.
void Generations::handle(const std::vector<pollfd>& entries) {
  for (std::size_t i = 0; i < std::min(running_.size(), kMostServed); ++i) {
    running_[i]->handle(entries);
    pass_on(i);
  }
  advance();
}

// Who is not served is ahead by one at most, and both hosts forget no generation that a rank of
// theirs is in.
bool Generations::handle_frame(Frame frame) {
  const std::size_t generation = frame.head.generation;
  if (generation < first_) return true;  // on its way when the last channel there closed
  const std::size_t i = generation - first_;
  if (i > kMostServed + 1) return false;
  while (i >= running_.size()) begin_next();
  const bool is_finish = frame.head.kind == FrameKind::finish;
  const bool makes_sense = running_[i]->handle_frame(std::move(frame));
  if (is_finish) advance();  // the next frame may be of a generation that is far from here
  return makes_sense;
}

// It may have left one, said its word in the next and ended, all since we looked last.
void Generations::rank_ended(unsigned rank, ph_launch_gone how) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    end(i, rank, how);
    pass_on(i, rank);
  }
  ended_.emplace(rank, how);
  advance();
}

std::vector<std::string> Generations::take_complaints() {
  std::vector<std::string> all = std::exchange(complaints_, {});
  for (const auto& one : running_) append(all, one->take_complaints());
  return all;
}

std::vector<Exchange::Report> Generations::take_reports() {
  std::vector<Exchange::Report> all = std::exchange(reports_, {});
  for (const auto& one : running_) append(all, one->take_reports());
  return all;
}

}  // namespace photonrun
