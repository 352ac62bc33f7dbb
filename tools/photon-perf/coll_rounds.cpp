#include "coll_rounds.hpp"

#include <cstring>

namespace photon::perf {

void SpanBook::bring_together() {
  auto& all = team_->area().coll_spans;
  std::copy_n(mine_, filled_, all[team_->index()].spans);
  coll_meet(*team_);
  for (std::size_t i = 0; team_->index() == 0 && i < filled_; ++i) {
    CollSpan last{0, 0};
    for (std::uint32_t member = 0; member < team_->count(); ++member) {
      last.start_ns = std::max(last.start_ns, all[member].spans[i].start_ns);
      last.end_ns = std::max(last.end_ns, all[member].spans[i].end_ns);
    }
    const auto span_ns = static_cast<double>(last.end_ns - last.start_ns) - left_out_ns_;
    outcome_.batches_ns.push_back(std::max(span_ns, 1.0) / static_cast<double>(each_));
  }
  filled_ = 0;
  coll_meet(*team_);
}

}  // namespace photon::perf
