#include "simtest/task_oracle.hpp"

#include <fmt/core.h>

#include <cstring>
#include <span>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

std::span<std::byte> body_of(ph_task_message* message) noexcept {
  return {static_cast<std::byte*>(ph_task_body(message)), ph_task_size(message)};
}

Pattern pattern_of(const TaskFront& front) noexcept {
  return Pattern(Purpose::source, front.number);
}

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) noexcept {
  return transport::sim::Random(digest ^ value).next();
}

}  // namespace

void TaskOracle::made(const TaskFront& front, const Made& one) {
  if (!under_way_.emplace(std::pair(front.number, one.target), one).second)
    report(fmt::format("task {:x} was made twice: the program is wrong", front.number));
}

void TaskOracle::fill(ph_task_message* message, const TaskFront& front) noexcept {
  const std::span<std::byte> body = body_of(message);
  pattern_of(front).fill(body);
  std::memcpy(body.data(), &front, sizeof front);
}

void TaskOracle::check_order(const TaskFront& front, const Made& one) {
  if (front.order == kUnordered) return;
  const std::uint32_t expected = met_[{one.source, one.target}]++;
  if (front.order != expected)
    report(fmt::format("PE {} has met task {} of PE {} in the place of {}", one.target, front.order,
                       one.source, expected));
}

void TaskOracle::quiet() {
  is_quiet_ = true;
  if (const std::string left = names_left(); !left.empty())
    report("it is quiet, and there is still" + left);
}

bool TaskOracle::met(std::uint32_t pe, ph_task_message* message, std::uint64_t now_ns) {
  const std::span<std::byte> body = body_of(message);
  TaskFront front{};
  if (body.size() < sizeof front) {
    report(fmt::format("PE {} has met a task of {} bytes", pe, body.size()));
    return false;
  }
  std::memcpy(&front, body.data(), sizeof front);
  if (is_quiet_) report(fmt::format("PE {} has met a task when it was quiet", pe));
  const auto found = under_way_.find({front.number, pe});
  if (found == under_way_.end()) {
    report(
        fmt::format("PE {} has met task {:x}, which was never made or has run", pe, front.number));
    return false;
  }
  const Made one = found->second;
  under_way_.erase(found);
  ++tasks_;
  digest_ = mixed(mixed(mixed(digest_, front.number), pe), now_ns);
  if (one.size_bytes != body.size() || one.source != ph_task_source(message))
    report(fmt::format("PE {} has met a task of {} bytes of PE {}; it was made by PE {} with {}",
                       pe, body.size(), ph_task_source(message), one.source, one.size_bytes));
  const auto at = pattern_of(front).difference(body.subspan(sizeof front), sizeof front);
  if (at) report(fmt::format("byte {} of a task of {} bytes is wrong", *at, body.size()));
  check_order(front, one);
  return finding_.empty();
}

std::string TaskOracle::names_left() const {
  std::string text;
  for (const auto& [name, one] : under_way_) {
    if (may_be_lost(one)) continue;
    if (text.size() > 500) return text + " ...";
    text += fmt::format(" {:x} of PE {} for PE {}, {} bytes;", name.first, one.source, one.target,
                        one.size_bytes);
  }
  return text;
}

}  // namespace photon::simtest
