#include "history.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace photonrun {

void History::take(const Exchange::Report& report) {
  using Kind = Exchange::Report::Kind;
  Rank& rank = ranks_[report.rank];
  if (report.kind == Kind::joined) rank.has_joined = true;
  if (report.kind != Kind::blames) {
    rank.left = report.kind == Kind::left;
    return;
  }
  if (report.other == report.rank || std::ranges::count(rank.blamed, report.other) > 0) return;
  if (rank.blamed.empty()) rank.blamed_at = ++blames_count_;
  rank.blamed.push_back(report.other);
}

void History::ended(unsigned rank, const End& end, std::string text) {
  if (ranks_[rank].state != State::running) return;
  ranks_[rank].state = end.failed() ? State::failed : State::well;
  if (!end.failed()) return;
  ranks_[rank].failure = failures_.size();
  failures_.push_back({.rank = rank, .status = end.status(), .text = std::move(text)});
}

void History::failed(int status, std::string text) {
  failures_.push_back({.rank = {}, .status = status, .text = std::move(text)});
}

History::Trace History::trace() const {
  Trace found;
  std::vector<std::size_t> path{0};
  for (std::size_t at = 0; at < path.size(); ++at) {
    const Failure& failure = failures_[path[at]];
    bool is_explained = false;
    bool may_be = false;
    for (const unsigned other :
         failure.rank ? ranks_[*failure.rank].blamed : decltype(Rank::blamed){}) {
      may_be = may_be || ranks_[other].state == State::running;
      if (ranks_[other].state != State::failed) continue;
      is_explained = true;
      if (std::ranges::count(path, ranks_[other].failure) == 0)
        path.push_back(ranks_[other].failure);
    }
    auto& part = is_explained ? found.consequences : may_be ? found.open : found.causes;
    part.push_back(path[at]);
  }
  return found;
}

std::optional<History::Failure> History::first(bool is_final) const {
  if (failures_.empty()) return std::nullopt;
  Trace found = trace();
  if (found.causes.empty() && !found.open.empty()) {
    if (!is_final) return std::nullopt;
    found.causes = found.open;
  }
  // The earliest that was seen; of ranks that all blame each other the first to do so.
  const std::size_t which = !found.causes.empty()
                                ? std::ranges::min(found.causes)
                                : std::ranges::min(found.consequences, {}, [this](std::size_t one) {
                                    return ranks_[*failures_[one].rank].blamed_at;
                                  });
  Failure failure = failures_[which];
  failure.text += remark_on(failure);
  return failure;
}

// It is the first, and yet it has lost another rank: where that one did not fail, this says why.
std::string History::remark_on(const Failure& failure) const {
  if (!failure.rank || ranks_[*failure.rank].blamed.empty()) return {};
  const unsigned other = ranks_[*failure.rank].blamed.front();
  const Rank& lost = ranks_[other];
  const char* how = "failed as well";
  if (lost.state == State::running) {
    how = "still runs";
  } else if (lost.state == State::well) {
    how = lost.left         ? "had left the job, and exited with status 0"
          : lost.has_joined ? "exited with status 0 without ph_finalize()"
                            : "exited with status 0 without having joined the job";
  }
  return fmt::format("; it had lost rank {}, which {}", other, how);
}

std::vector<unsigned> History::unjoined() const {
  std::vector<unsigned> found;
  for (unsigned rank = 0; rank < ranks_.size(); ++rank)
    if (!ranks_[rank].has_joined) found.push_back(rank);
  return found;
}

}  // namespace photonrun
