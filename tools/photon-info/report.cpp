#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace photon_info {
namespace {

std::string job_text(const Findings& findings) {
  if (!findings.problem.empty()) return fmt::format("could not be formed: {}", findings.problem);
  if (findings.is_launched)
    return fmt::format("{} rank{}, seen from rank {}", findings.size, findings.size == 1 ? "" : "s",
                       findings.rank);
  return "no launcher: a program started like this is a job of one rank";
}

void add_settings(std::string& text, const Findings& findings) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const Setting& setting : findings.settings) {
    name_width = std::max(name_width, setting.environment.size());
    value_width = std::max(value_width, setting.value.size());
  }
  text += "\nsettings\n";
  for (const Setting& setting : findings.settings)
    fmt::format_to(std::back_inserter(text), "  {:<{}}  {:<{}}  {:<11}  {}\n", setting.environment,
                   name_width, setting.value, value_width, setting.origin, setting.help);
}

void add_path(std::string& text, const Path& path, bool names_from) {
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  fmt::format_to(
      std::back_inserter(text),
      "  {}to rank {}: {}, {}; copies by the kernel (CMA): {}; ph_alloc memory mapped: {};"
      " same process: {}\n",
      names_from ? fmt::format("rank {} ", path.from) : "", path.rank, path.transport, path.state,
      yes_no(path.cma), yes_no(path.arena_mapped), yes_no(path.same_process));
  if (!path.reason.empty()) fmt::format_to(std::back_inserter(text), "    {}\n", path.reason);
  if (!path.problem.empty())
    fmt::format_to(std::back_inserter(text), "    failed: {}\n", path.problem);
}

void add_paths(std::string& text, const Findings& findings) {
  if (findings.paths.empty()) return;
  text += findings.is_launched ? "\npaths (each was tried)\n"
                               : "\npaths (tried between this process and a child)\n";
  for (const Path& path : findings.paths) add_path(text, path, findings.is_of_all);
  fmt::format_to(std::back_inserter(text), "  connected peers of rank {}\n", findings.rank);
  for (const PeerCount& one : findings.peers)
    fmt::format_to(std::back_inserter(text), "    {:<19}  {:>5}  {}\n", one.name, one.value,
                   one.help);
}

// Limits of the library's own.
void add_own_limits(std::string& text, const char* whose, const std::vector<Limit>& limits) {
  text += fmt::format("\nlimits of {}\n", whose);
  for (const Limit& one : limits)
    fmt::format_to(std::back_inserter(text), "  {:<20}  {:>14}  {}\n", one.name, *one.value,
                   one.needs);
}

void add_kernel(std::string& text, const Findings& findings) {
  text += "\nsystem calls\n";
  if (findings.refused_calls.empty()) text += "  all that Photon uses are allowed\n";
  for (const RefusedCall& one : findings.refused_calls)
    fmt::format_to(std::back_inserter(text), "  {} is refused ({}): {}\n", one.name, one.why,
                   one.without);
  text += "\nlimits\n";
  for (const Limit& one : findings.limits)
    fmt::format_to(std::back_inserter(text), "  {:<14}  {:>20}  {}\n", one.name,
                   one.value ? std::to_string(*one.value) : "unlimited", one.needs);
  add_own_limits(text, "mailboxes", findings.mailbox_limits);
  add_own_limits(text, "active messages", findings.am_limits);
}

}  // namespace

std::string as_text(const Findings& findings) {
  std::string text = fmt::format("Photon {}\njob: {}\n", findings.version, job_text(findings));
  text += "\ntransports\n";
  for (const Transport& transport : findings.transports)
    fmt::format_to(std::back_inserter(text), "  {:<5} {}{}\n", transport.name,
                   transport.is_usable ? "usable" : "not usable: ", transport.reason);
  add_paths(text, findings);
  add_kernel(text, findings);
  add_settings(text, findings);
  return text;
}

std::string as_json(const Findings& findings) {
  nlohmann::ordered_json json = {{"version", findings.version},
                                 {"launched", findings.is_launched},
                                 {"rank", findings.rank},
                                 {"size", findings.size},
                                 {"problem", findings.problem},
                                 {"settings", nlohmann::ordered_json::array()},
                                 {"transports", nlohmann::ordered_json::array()},
                                 {"paths", nlohmann::ordered_json::array()},
                                 {"peers", nlohmann::ordered_json::object()},
                                 {"refused_calls", nlohmann::ordered_json::array()},
                                 {"limits", nlohmann::ordered_json::object()},
                                 {"mailbox_limits", nlohmann::ordered_json::object()},
                                 {"am_limits", nlohmann::ordered_json::object()}};
  for (const Setting& setting : findings.settings)
    json["settings"].push_back({{"name", setting.name},
                                {"environment", setting.environment},
                                {"value", setting.value},
                                {"origin", setting.origin},
                                {"help", setting.help}});
  for (const Transport& transport : findings.transports)
    json["transports"].push_back(
        {{"name", transport.name}, {"usable", transport.is_usable}, {"reason", transport.reason}});
  for (const Path& path : findings.paths)
    json["paths"].push_back({{"from", path.from},
                             {"rank", path.rank},
                             {"transport", path.transport},
                             {"state", path.state},
                             {"same_process", path.same_process},
                             {"cma", path.cma},
                             {"arena_mapped", path.arena_mapped},
                             {"reason", path.reason},
                             {"problem", path.problem}});
  for (const PeerCount& one : findings.peers) json["peers"][one.name] = one.value;
  for (const RefusedCall& one : findings.refused_calls)
    json["refused_calls"].push_back(
        {{"name", one.name}, {"why", one.why}, {"without", one.without}});
  for (const Limit& one : findings.limits)
    json["limits"][one.name] = one.value ? nlohmann::ordered_json(*one.value) : nullptr;
  for (const Limit& one : findings.mailbox_limits) json["mailbox_limits"][one.name] = *one.value;
  for (const Limit& one : findings.am_limits) json["am_limits"][one.name] = *one.value;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace photon_info
