#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "report.hpp"

namespace photon_info {
namespace {

std::string why_of(const CollChoice& choice) {
  std::string who = "built-in table";
  if (choice.source == "setting") who = fmt::format("setting coll_{}", choice.kind);
  if (choice.source == "table") who = "table of the setting coll_table";
  if (choice.algorithm == choice.wanted) return who;
  return fmt::format("instead of {} ({}), which cannot do it", choice.wanted, who);
}

std::string case_of(const CollCase& where) {
  return fmt::format("{} members, {}{}", where.members,
                     where.has_several_hosts ? "several hosts" : "one host",
                     where.is_reproducible ? ", reproducible" : "");
}

}  // namespace

std::string coll_as_text(const Findings& findings) {
  std::string text = fmt::format(
      "Photon {}\ncollective operations: for whom, from how many bytes of a block on, by which "
      "algorithm, and who has chosen it\n",
      findings.version);
  std::string kind;
  for (const CollChoice& one : findings.coll) {
    if (one.kind != kind) fmt::format_to(std::back_inserter(text), "\n{}\n", one.kind);
    kind = one.kind;
    fmt::format_to(std::back_inserter(text), "  {:<43}  {:>10}  {:<18}  {}\n", case_of(one.where),
                   one.bytes, one.algorithm, why_of(one));
  }
  return text;
}

std::string coll_as_json(const Findings& findings) {
  nlohmann::ordered_json json = {{"version", findings.version},
                                 {"coll", nlohmann::ordered_json::array()}};
  for (const CollChoice& one : findings.coll)
    json["coll"].push_back({{"kind", one.kind},
                            {"members", one.where.members},
                            {"several_hosts", one.where.has_several_hosts},
                            {"reproducible", one.where.is_reproducible},
                            {"bytes", one.bytes},
                            {"algorithm", one.algorithm},
                            {"wanted", one.wanted},
                            {"source", one.source},
                            {"why", why_of(one)}});
  return json.dump(2) + "\n";
}

}  // namespace photon_info
