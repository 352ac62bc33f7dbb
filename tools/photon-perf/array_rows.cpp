#include "array_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace photon::perf {
namespace {

constexpr std::uint64_t kArraySifted = std::uint64_t{1} << 20;   // up to here, forms are compared
constexpr std::uint64_t kArrayCopied = std::uint64_t{64} << 20;  // in the run that is timed first

}  // namespace

Contest ArrayRows::contest_of(std::vector<Entry> limits) const {
  Contest contest;
  contest.size_bytes = size_bytes_;
  contest.limits = std::move(limits);
  contest.first = std::clamp<std::uint64_t>(kArrayCopied / size_bytes_, contest.least, kBatch);
  return contest;
}

double ArrayRows::add(Entry ours, std::vector<Entry> limits) {
  Contest contest = contest_of(std::move(limits));
  contest.ours = std::move(ours);
  auto row = row_of(bench_, contest, compete(team_, contest, bench_.options.iterations));
  const double ratio = row.limit_ratio.value_or(0);
  finish_(row);
  if (team_.index() == 0) bench_.report.add(std::move(row));
  return ratio;
}

// On both members.
std::string ArrayRows::best_of(const std::vector<Entry>& forms) {
  const auto best = compete(team_, contest_of(forms), bench_.options.iterations).limit_name;
  const auto is_best = [&](const Entry& entry) { return entry.name == best; };
  const auto at = std::find_if(forms.begin(), forms.end(), is_best) - forms.begin();
  return forms.at(team_.agree(static_cast<std::uint64_t>(at))).name;
}

void ArrayRows::add_best_of(const std::vector<Entry>& all, std::string_view family,
                            const std::vector<Entry>& limits, std::string& known) {
  std::vector<Entry> forms;
  for (const Entry& entry : all)
    if (entry.family == family) forms.push_back(entry);
  if (forms.empty()) return;
  const auto is_known = [&](const Entry& entry) { return entry.name == known; };
  if (size_bytes_ <= kArraySifted || std::none_of(forms.begin(), forms.end(), is_known))
    known = best_of(forms);
  auto chosen = *std::find_if(forms.begin(), forms.end(), is_known);
  chosen.name = family;
  add(std::move(chosen), limits);
}

void say_threshold(const Bench& bench, const std::vector<SizeRatio>& ratios) {
  std::uint64_t threshold_bytes = 0;
  for (auto at = ratios.rbegin(); at != ratios.rend() && at->message_to_buffer >= 1; ++at)
    threshold_bytes = at->size_bytes;
  bench.report.say(
      threshold_bytes == 0
          ? fmt::format("threshold: none; a buffer is slower than a message at {} bytes",
                        ratios.back().size_bytes)
          : fmt::format("threshold: from {} bytes on a buffer is never slower than a message",
                        threshold_bytes));
}

}  // namespace photon::perf
