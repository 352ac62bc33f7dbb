#include "netsim/command/case.hpp"

#include <nlohmann/json.hpp>

namespace photon::netsim::command {
namespace {

constexpr const char* kNames[][2] = {{"topology", "network.topology"},
                                     {"shape", "network.shape"},
                                     {"hosts_per_router", "network.hosts_per_router"},
                                     {"width", "network.width"},
                                     {"routing", "network.routing"},
                                     {"link_GBps", "network.link_GBps"},
                                     {"crossbar_GBps", "network.crossbar_GBps"},
                                     {"flit_bytes", "network.flit_bytes"},
                                     {"packet_bytes", "network.packet_bytes"},
                                     {"buffer_bytes", "network.buffer_bytes"},
                                     {"link_ns", "network.link_ns"},
                                     {"input_ns", "network.input_ns"},
                                     {"output_ns", "network.output_ns"},
                                     {"delivery", "network.delivery"},
                                     {"motif", "motif.name"},
                                     {"ranks", "motif.ranks"},
                                     {"bytes", "motif.bytes"},
                                     {"offset", "motif.distance"},
                                     {"target", "motif.target"},
                                     {"steps", "run.iterations"}};

const char* key_of(std::string_view name) {
  for (const auto& [ours, theirs] : kNames) {
    if (name == ours) return theirs;
  }
  return nullptr;
}

}  // namespace

Result<Settings> settings_of_case(const std::string& name, std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{name + ": allowed is a JSON object"};
  Settings settings;
  const auto wrong = [&name](const std::string& word, const std::string& what) {
    return Error{name + ": " + word + ": " + what};
  };
  for (const auto& [word, value] : json.items()) {
    const char* key = key_of(word);
    if (key == nullptr) return wrong(word, "no key of a case");
    if (!value.is_string() && !value.is_number()) {
      return wrong(word, "allowed is a text or a number");
    }
    const std::string plain = value.is_string() ? value.get<std::string>() : value.dump();
    auto changed = with(settings, key, plain);
    if (!changed) return wrong(word, changed.error());
    settings = std::move(*changed);
  }
  return settings;
}

}  // namespace photon::netsim::command
