#include "report.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr std::string_view kLayout =
    "{:<15} {:<23} {:<6} {:<5} {:<5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9} {:>7}  {}\n";

std::string ns_text(double ns) {
  return ns < 10'000 ? fmt::format("{:.1f}", ns) : fmt::format("{:.0f}", ns);
}

std::string million_text(double per_s) {
  const double millions = per_s / 1e6;
  return millions < 1 ? fmt::format("{:.4f}", millions) : fmt::format("{:.2f}", millions);
}

// The limit in the unit that the row's own column shows.
std::string limit_text(const Row& row) {
  if (!row.limit) return "-";
  if (row.latency) return ns_text(*row.limit);
  if (row.bandwidth_mbps) return fmt::format("{:.0f}", *row.limit);
  if (row.rate_per_s) return million_text(*row.limit);
  return fmt::format("{:.0f}", *row.limit);
}

nlohmann::ordered_json json_of(const std::optional<double>& figure) {
  return figure ? nlohmann::ordered_json(*figure) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json json_of(const std::optional<MachineState>& machine) {
  if (!machine) return nullptr;
  return {{"ping_before_ns", machine->ping_before_ns},
          {"ping_after_ns", machine->ping_after_ns},
          {"state", machine->name},
          {"steady", machine->is_steady}};
}

nlohmann::ordered_json json_of(const RunFacts& facts) {
  return {{"date", facts.date},
          {"version", facts.version},
          {"processor", json_of(facts.processor)},
          {"system", json_of(facts.system)},
          {"cores", facts.cores},
          {"ranks", facts.ranks}};
}

nlohmann::ordered_json json_of(const Row& row) {
  nlohmann::ordered_json latency = nullptr;
  if (row.latency) {
    latency = {
        {"min", row.latency->min_ns}, {"p50", row.latency->p50_ns}, {"p99", row.latency->p99_ns}};
  }
  return {{"question", row.question},
          {"transport", json_of(row.transport)},
          {"mode", json_of(row.mode)},
          {"memory", json_of(row.memory)},
          {"buffers", json_of(row.buffers)},
          {"size_bytes", row.size_bytes},
          {"iterations", row.iterations},
          {"latency_ns", latency},
          {"rate_per_s", json_of(row.rate_per_s)},
          {"bandwidth_MBps", json_of(row.bandwidth_mbps)},
          {"limit", json_of(row.limit)},
          {"limit_ratio", json_of(row.limit_ratio)},
          {"limit_name", json_of(row.limit_name)},
          {"machine", json_of(row.machine)}};
}

void print_header() {
  fmt::print(fmt::runtime(kLayout), "question", "mode", "memory", "data", "state", "bytes", "count",
             "min ns", "p50 ns", "p99 ns", "M/s", "MB/s", "limit", "ratio", "remarks");
}

[[noreturn]] void fail_to_write(const std::string& path) {
  throw Failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

Report::Report(bool speaks, const std::string& json_path) : speaks_(speaks), json_path_(json_path) {
  if (!speaks_ || json_path_.empty()) return;
  json_.open(json_path_);
  if (!json_) fail_to_write(json_path_);
}

void Report::add(Row row) {
  if (!speaks_) return;
  if (rows_.empty()) print_header();
  const auto latency = [&](double Latency::*member) {
    return row.latency ? ns_text((*row.latency).*member) : std::string("-");
  };
  fmt::print(fmt::runtime(kLayout), row.question, row.mode, row.memory, row.buffers,
             row.machine ? row.machine->name : "", row.size_bytes, row.iterations,
             latency(&Latency::min_ns), latency(&Latency::p50_ns), latency(&Latency::p99_ns),
             row.rate_per_s ? million_text(*row.rate_per_s) : "-",
             row.bandwidth_mbps ? fmt::format("{:.0f}", *row.bandwidth_mbps) : "-", limit_text(row),
             row.limit_ratio ? fmt::format("{:.3f}", *row.limit_ratio) : "-", row.note);
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Report::say(std::string_view line) const {
  if (!speaks_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// Every row has the facts of its run, so that rows of several runs can be put into one array.
std::string Report::json(const RunFacts& facts) const {
  auto array = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    array.push_back(json_of(row));
    array.back()["run"] = json_of(facts);
  }
  return array.dump(2) + '\n';
}

void Report::write_json(const RunFacts& facts) {
  if (!json_.is_open()) return;
  json_ << json(facts);
  json_.close();
  if (!json_) fail_to_write(json_path_);
}

}  // namespace photon::perf
