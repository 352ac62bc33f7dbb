#include "generations.hpp"

#include <iterator>

namespace photonrun {

Generations::Generations(Make make) : make_(std::move(make)) { begin_next(); }

void Generations::begin_next() {
  running_.push_back(make_(first_ + static_cast<unsigned>(running_.size())));
  for (const Ended& one : ended_) running_.back()->rank_ended(one.rank, one.how);
}

void Generations::pass_on(std::size_t i) {
  for (Exchange::Leaver& leaver : running_[i]->take_leavers()) {
    if (i + 1 == running_.size()) begin_next();
    running_[i + 1]->adopt(std::move(leaver));
  }
}

void Generations::want(std::vector<pollfd>& entries) {
  for (; running_.size() > 1 && running_.front()->is_over(); ++first_) running_.pop_front();
  for (const auto& one : running_) one->want(entries);
}

// One that is begun meanwhile has no entries yet, but may have frames.
void Generations::handle(const std::vector<pollfd>& entries) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    running_[i]->handle(entries);
    pass_on(i);
  }
}

bool Generations::handle_frame(Frame frame) {
  const std::size_t generation = frame.head.generation;
  if (generation < first_) return true;  // on its way when the last channel there closed
  const std::size_t i = generation - first_;
  if (i > running_.size()) return false;
  if (i == running_.size()) begin_next();
  return running_[i]->handle_frame(std::move(frame));
}

// It may have left one, said its word in the next and ended, all since we looked last.
void Generations::rank_ended(unsigned rank, ph_launch_gone how) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    running_[i]->rank_ended(rank, how);
    pass_on(i);
  }
  ended_.push_back({rank, how});
}

std::vector<std::string> Generations::take_complaints() {
  std::vector<std::string> all;
  for (const auto& one : running_) {
    auto some = one->take_complaints();
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

}  // namespace photonrun
