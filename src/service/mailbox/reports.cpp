#include "service/mailbox/reports.hpp"

#include <new>

namespace photon::service::mailbox {

ph_status Reports::say_now(Rank to, const Report& report) noexcept {
  const std::uint64_t first = first_word(report.op, report.number);
  if (report.op != Op::verdict) return port_.say_words(to, first);
  const auto status = static_cast<std::uint64_t>(std::int64_t{report.status});
  const bool has_landed = report.status == PH_OK && report.epoch != PH_ANY_EPOCH;
  return has_landed ? port_.say_words(to, first, status, report.epoch)
                    : port_.say_words(to, first, status);
}

void Reports::say(Rank to, Op op, std::uint64_t number, const End& end) noexcept {
  const std::uint64_t epoch = end.status == PH_OK ? end.epoch : PH_ANY_EPOCH;
  const Report report{number, epoch, 1, static_cast<std::int16_t>(end.status), op};
  if (waiting_.empty() || !waiting_.contains(to)) {
    const ph_status said = say_now(to, report);
    if (said == PH_ERR_MEMORY) return port_.cut_off(to, "");  // words would need memory
    if (said != PH_AGAIN) return;
  }
  wait(to, &report);
}

bool Reports::say_credit(Rank to, std::uint64_t number) noexcept {
  if (!waiting_.empty() && waiting_.contains(to)) return false;
  const ph_status said = port_.say_words(to, first_word(Op::credit, number));
  if (said == PH_ERR_MEMORY) port_.cut_off(to, "");
  if (said != PH_AGAIN) return true;
  wait(to, nullptr);
  return false;
}

// Null: for a line, with a credit.
void Reports::wait(Rank to, const Report* report) noexcept {
  try {
    Queue& queue = waiting_[to];
    if (report == nullptr) return;
    if (!queue.empty()) {
      Report& last = queue.at(queue.end() - 1);
      const bool follows = last.op == report->op && last.status == report->status &&
                           last.epoch == report->epoch && last.count != UINT32_MAX &&
                           last.number + last.count == report->number;
      if (follows) {
        ++last.count;
        return;
      }
    }
    queue.push(*report);
  } catch (const std::bad_alloc&) {
    port_.cut_off(to, "");
  }
}

bool Reports::send(Rank to) noexcept {
  for (;;) {
    const auto waiting = waiting_.find(to);  // each time: it may be lost by what is said
    if (waiting == waiting_.end()) return true;
    Queue& queue = waiting->second;
    if (queue.empty()) {
      waiting_.erase(waiting);
      return true;
    }
    const ph_status said = say_now(to, queue.front());
    if (said == PH_AGAIN) return false;
    if (said != PH_OK) {
      port_.cut_off(to, "");
      waiting_.erase(to);
      return true;
    }
    Report& front = queue.front();
    ++front.number;
    if (--front.count != 0) continue;
    queue.pop();
    queue.trim();
  }
}

}  // namespace photon::service::mailbox
