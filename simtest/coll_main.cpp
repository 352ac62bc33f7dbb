// photon-coll: proves the schedules of collective operations, and writes them as text.
#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simtest/coll_plan.hpp"
#include "simtest/coll_text.hpp"

namespace photon::simtest::coll {
namespace {

using Clock = std::chrono::steady_clock;
using schedule::Algorithm;
using schedule::Kind;

struct VerifyChoices {
  std::vector<std::string> kinds;
  std::vector<std::string> algorithms;
  std::string sizes;
  std::string one_case;
  std::uint64_t seed = 1;
  std::uint64_t cases = 0;
  double seconds = 45;
  bool all = false;
};

struct DumpChoices {
  std::string kind;
  std::string algorithm;
  std::string order = "any";
  std::uint32_t size = 4;
  std::uint32_t root = 0;
  std::uint32_t each_host = 2;
  std::uint64_t count = 1;
  std::uint64_t element_bytes = 1;
  std::uint64_t segment = 0;
  bool in_place = false;
};

// "A..B" or "A", several with commas.
std::optional<std::vector<std::uint32_t>> sizes_of(const std::string& text) {
  std::vector<std::uint32_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc{}) return std::nullopt;
    std::uint32_t last = first;
    if (end - read.ptr > 2 && read.ptr[0] == '.' && read.ptr[1] == '.') {
      read = std::from_chars(read.ptr + 2, end, last);
      if (read.ec != std::errc{}) return std::nullopt;
    }
    if (first == 0 || last < first || last > Values::kMostMembers) return std::nullopt;
    for (std::uint32_t i = first; i <= last; ++i) sizes.push_back(i);
    at = read.ptr;
    if (at != end && (*at++ != ',' || at == end)) return std::nullopt;
  }
  return sizes;
}

// Counts of what was run, and its faults as they are found.
class Report {
 public:
  bool add(const CollCase& one) {
    const auto begin = Clock::now();
    const Proof proof = prove(one);
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (!proof.is_known) return true;
    Row& row = rows_[{one.kind, one.algorithm}];
    ++row.cases;
    row.messages += proof.messages;
    row.seconds += took.count();
    if (proof.fault.empty()) return true;
    ++row.faults;
    // More of one algorithm say the same.
    if (row.faults <= kMostShown)
      fmt::print("fault: {}: {}\n  again: photon-coll verify --case {}\n", text_of(one),
                 proof.fault, text_of(one));
    return true;
  }
  void add_choices(const std::vector<std::uint32_t>& sizes) {
    for (const std::uint32_t size : sizes) {
      const std::string wrong = check_choices(size, questions_);
      if (wrong.empty()) continue;
      ++wrong_choices_;
      fmt::print("fault: choice: {}\n  again: photon-coll verify --sizes {}\n", wrong, size);
    }
  }
  // Exit status.
  int print() const {
    Row all;
    fmt::print("{:<15}{:<20}{:>9}{:>13}{:>10}{:>8}\n", "kind", "algorithm", "cases", "messages",
               "seconds", "faults");
    for (const auto& [name, row] : rows_) {
      fmt::print("{:<15}{:<20}{:>9}{:>13}{:>10.2f}{:>8}\n", name_of(name.first),
                 name_of(name.second), row.cases, row.messages, row.seconds, row.faults);
      all.cases += row.cases;
      all.messages += row.messages;
      all.seconds += row.seconds;
      all.faults += row.faults;
    }
    fmt::print("{} cases, {} messages in {:.1f} s; {} choices asked; {} faults\n", all.cases,
               all.messages, all.seconds, questions_, all.faults + wrong_choices_);
    return all.faults + wrong_choices_ == 0 ? 0 : 1;
  }

 private:
  static constexpr std::uint64_t kMostShown = 5;
  struct Row {
    std::uint64_t cases = 0;
    std::uint64_t messages = 0;
    std::uint64_t faults = 0;
    double seconds = 0;
  };
  std::map<std::pair<Kind, Algorithm>, Row> rows_;
  std::uint64_t questions_ = 0;
  std::uint64_t wrong_choices_ = 0;
};

// Nothing: a name or a size is wrong, and has been named.
std::optional<Filter> filter_of(const VerifyChoices& choices) {
  Filter filter = everything();
  if (!choices.kinds.empty()) filter.kinds.clear();
  if (!choices.algorithms.empty()) filter.algorithms.clear();
  for (const std::string& name : choices.kinds) filter.kinds.push_back(*kind_of(name));
  for (const std::string& name : choices.algorithms)
    filter.algorithms.push_back(*algorithm_of(name));
  const auto sizes = sizes_of(choices.sizes);
  if (!sizes) {
    fmt::print(stderr,
               "photon-coll: --sizes {}: give A..B with 1 <= A <= B <= {}, or numbers, with "
               "commas between them\n",
               choices.sizes, Values::kMostMembers);
    return std::nullopt;
  }
  filter.sizes = *sizes;
  return filter;
}

int verify_one(const std::string& text) {
  const auto one = case_of(text);
  if (!one) {
    fmt::print(stderr, "photon-coll: --case {}: it is none; a fault's line shows one\n", text);
    return 2;
  }
  Report report;
  report.add(*one);
  return report.print();
}

int verify(const VerifyChoices& choices) {
  if (!choices.one_case.empty()) return verify_one(choices.one_case);
  const auto filter = filter_of(choices);
  if (!filter) return 2;
  Report report;
  const bool is_whole = choices.kinds.empty() && choices.algorithms.empty();
  if (is_whole) report.add_choices(filter->sizes.empty() ? planned_sizes() : filter->sizes);
  if (choices.all) {
    every_case(*filter, choices.seed, [&report](const CollCase& one) { return report.add(one); });
    return report.print();
  }
  fmt::print("seed {}\n", choices.seed);
  const auto end = Clock::now() + std::chrono::duration<double>(choices.seconds);
  const std::uint64_t most = choices.cases == 0 ? UINT64_MAX : choices.cases;
  for (std::uint64_t i = 0; i < most && (choices.cases != 0 || Clock::now() < end); ++i)
    if (const auto one = drawn_case(*filter, choices.seed, i)) report.add(*one);
  return report.print();
}

int dump(const DumpChoices& choices) {
  schedule::Call call;
  call.kind = *kind_of(choices.kind);
  call.algorithm = *algorithm_of(choices.algorithm);
  call.size = choices.size;
  call.root = choices.root;
  call.count = choices.count;
  call.segment = choices.segment;
  call.in_order = choices.order == "loop";
  call.keeps_order = choices.order == "kept";
  std::vector<std::uint32_t> names(choices.size);
  for (std::uint32_t i = 0; i < choices.size; ++i) names[i] = i / choices.each_host;
  const schedule::Hosts hosts(names);
  call.hosts = &hosts;
  if (choices.root >= choices.size) {
    fmt::print(stderr, "photon-coll: --root {}: the team has {} members\n", call.root, call.size);
    return 2;
  }
  if (!schedule::knows(call)) {
    fmt::print(stderr, "photon-coll: {} does not know {} of {} members with order {}\n",
               choices.algorithm, choices.kind, choices.size, choices.order);
    return 2;
  }
  const Schedule schedule;
  for (std::uint32_t rank = 0; rank < call.size; ++rank) {
    call.rank = rank;
    call.in_place = choices.in_place && may_be_in_place(call.kind) &&
                    (!is_rooted(call.kind) || rank == call.root);
    StepText steps(schedule, call, choices.element_bytes);
    std::string text = rank == 0 ? steps.header(choices.in_place) : "";
    text += steps.rank();
    do {
      std::fwrite(text.data(), 1, text.size(), stdout);
      text.clear();
    } while (steps.next_phase(text));
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const Kind kind : everything().kinds) names.emplace_back(name_of(kind));
  return names;
}

std::vector<std::string> names_of_algorithms() {
  std::vector<std::string> names;
  for (const Algorithm algorithm : everything().algorithms) names.emplace_back(name_of(algorithm));
  return names;
}

CLI::App* add_verify(CLI::App& app, VerifyChoices& choices) {
  CLI::App* verb = app.add_subcommand("verify", "prove schedules; exit status 1: there is a fault");
  verb->add_option("--kinds", choices.kinds, "only these")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_kinds()));
  verb->add_option("--algorithms", choices.algorithms, "only these")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_algorithms()));
  verb->add_option("--sizes", choices.sizes, "of teams: A..B, numbers, or both with commas");
  verb->add_option("--seed", choices.seed, "of what is drawn")->capture_default_str();
  verb->add_option("--cases", choices.cases, "so many are drawn, however long it takes");
  verb->add_option("--seconds", choices.seconds, "so long cases are drawn")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  verb->add_flag("--all", choices.all, "the whole list, for 1 to 1,025 members: an hour");
  verb->add_option("--case", choices.one_case, "this one alone, as a fault's line gives it");
  return verb;
}

CLI::App* add_dump(CLI::App& app, DumpChoices& choices) {
  CLI::App* verb = app.add_subcommand("dump", "write a schedule as text");
  verb->add_option("--kind", choices.kind, "of the operation")
      ->required()
      ->check(CLI::IsMember(names_of_kinds()));
  verb->add_option("--algorithm", choices.algorithm, "that does it")
      ->required()
      ->check(CLI::IsMember(names_of_algorithms()));
  verb->add_option("--size", choices.size, "members of the team")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  verb->add_option("--root", choices.root, "a member")->capture_default_str();
  verb->add_option("--count", choices.count, "elements, of a block or of all")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--element-bytes", choices.element_bytes, "bytes of an element")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  verb->add_option("--each-host", choices.each_host, "members of a host, one behind the other")
      ->check(CLI::PositiveNumber);
  verb->add_option("--segment", choices.segment, "elements of a message; 0: all at once")
      ->capture_default_str();
  verb->add_option("--order", choices.order, "of operands; loop: reproducible")
      ->check(CLI::IsMember({"any", "kept", "loop"}))
      ->capture_default_str();
  verb->add_flag("--in-place", choices.in_place, "inputs stand in the outputs");
  return verb;
}

int run(int count, char** arguments) {
  VerifyChoices verify_choices;
  DumpChoices dump_choices;
  CLI::App app{"Proves the schedules of collective operations, and writes them as text."};
  app.require_subcommand(1);
  const CLI::App* verb = add_verify(app, verify_choices);
  add_dump(app, dump_choices);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return verb->parsed() ? verify(verify_choices) : dump(dump_choices);
}

}  // namespace
}  // namespace photon::simtest::coll

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // what was found is seen also if it aborts
  return photon::simtest::coll::run(count, arguments);
}
