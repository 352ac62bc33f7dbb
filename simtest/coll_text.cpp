#include "simtest/coll_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace photon::simtest::coll {

using schedule::Action;
using schedule::Step;

namespace {

const char* name_of_order(const schedule::Call& call) {
  if (call.in_order) return "loop";
  return call.keeps_order ? "kept" : "any";
}

}  // namespace

std::string StepText::header(bool in_place) const {
  return fmt::format(
      "schedule {} {} size {} root {} count {} element-bytes {} segment {} order {} in-place {}\n",
      name_of(call_.kind), name_of(call_.algorithm), call_.size, call_.root, call_.count,
      element_bytes_, call_.segment, name_of_order(call_), in_place ? "yes" : "no");
}

std::string StepText::rank() const { return fmt::format("rank {}\n", call_.rank); }

void StepText::write_step(std::string& text, const Step& step, const Labels& after) const {
  const std::uint64_t count = step.action == Action::receive ? step.to.count : step.from.count;
  const std::uint64_t bytes = count * element_bytes_;
  text += fmt::format("l{}: ", label_);
  switch (step.action) {
    case Action::send: text += fmt::format("send {} {} {}", step.peer, bytes, step.tag); break;
    case Action::receive:
      text += fmt::format("receive {} {} {}", step.peer, bytes, step.tag);
      break;
    case Action::copy: text += fmt::format("copy {}", bytes); break;
    case Action::fold: text += fmt::format("fold {}", bytes); break;
  }
  const char* separator = " after l";
  for (const std::uint64_t label : after) {
    text += fmt::format("{}{}", separator, label);
    separator = " l";
  }
  text += '\n';
}

// A step names what it waits for itself; what that waits for in turn is not repeated.
bool StepText::next_phase(std::string& text) {
  if (index_ >= schedule_.phases_of(call_)) return false;
  schedule::Phase phase;
  schedule_.phase_at(call_, index_++, phase);
  if (phase.after_sends) {
    // One send may be a gate already.
    for (const std::uint64_t send : sends_)
      if (std::find(gate_.begin(), gate_.end(), send) == gate_.end()) gate_.push_back(send);
    std::sort(gate_.begin(), gate_.end());
    sends_.clear();
  }
  Labels receives;  // that no copy or fold of this phase has waited for
  Labels computed;  // the newest copy or fold
  for (std::uint32_t i = 0; i < phase.count; ++i) {
    const Step& step = phase.steps[i];
    const bool computes = step.action == Action::copy || step.action == Action::fold;
    Labels after;
    if (computes) after = receives;
    if (step.action != Action::receive)
      after.insert(after.begin(), computed.begin(), computed.end());
    write_step(text, step, after.empty() ? gate_ : after);
    if (computes) {
      computed = {label_};
      receives.clear();
    } else {
      (step.action == Action::send ? sends_ : receives).push_back(label_);
    }
    ++label_;
  }
  computed.insert(computed.end(), receives.begin(), receives.end());
  if (!computed.empty()) gate_ = computed;
  return true;
}

}  // namespace photon::simtest::coll
