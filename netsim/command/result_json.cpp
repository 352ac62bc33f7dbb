#include "netsim/command/result_json.hpp"

#include <algorithm>

#include "netsim/command/settings_json.hpp"
#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "photon-netsim result";

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The product of two numbers, which may be beyond 64 bits.
long double product(std::uint64_t one, std::uint64_t other) {
  return static_cast<long double>(one) * static_cast<long double>(other);
}

double share_of(long double part, long double all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// By class: how busy links were, for how long they were stalled, and the longest of their queues.
Json links_json(const RunResult& result) {
  Json all = Json::object();
  for (const LinkClass& its : result.links) {
    const double mean =
        share_of(product(its.flits, result.flit_ps), product(its.links, result.span_ps));
    const double stalled = share(its.stalled, its.links);
    all[its.name] = {{"links", its.links},
                     {"flits", its.flits},
                     {"use_mean", mean},
                     {"use_max", share_of(product(its.most_flits, result.flit_ps), result.span_ps)},
                     {"stalled_mean_ps", stalled},
                     {"stalled_max_ps", its.most_stalled},
                     {"peak_queue_flits", its.peak_flits}};
  }
  return all;
}

// Of one FIFO, per VC, of a router's output port.
std::uint32_t peak_queue_flits(const RunResult& result) {
  std::uint32_t most = 0;
  for (const LinkClass& its : result.links) {
    if (its.name != kFromHosts) most = std::max(most, its.peak_flits);
  }
  return most;
}

void add_figures(Json& json, const RunResult& result) {
  json["last_ps"] = result.last_ps;
  json["mean_ps"] = result.mean_ps;
  json["packets"] = result.packets;
  json["hops"] = result.hops;
  json["out_of_order"] = result.out_of_order;
  json["out_of_order_share"] = share(result.out_of_order, result.packets);
  const Histogram& latency = result.latency_ns;
  json["message_latency_ns"] = {{"count", latency.count()},
                                {"p50", latency.quantile(0.5)},
                                {"p99", latency.quantile(0.99)},
                                {"max", latency.most()}};
  json["bytes"] = {{"posted", result.posted_bytes},
                   {"control", result.control_bytes},
                   {"from_cards", result.bytes_from_cards},
                   {"to_cards", result.bytes_to_cards}};
  json["flits"] = {{"from_cards", result.flits_from_cards}, {"to_cards", result.flits_to_cards}};
  json["span_ps"] = result.span_ps;
  json["links"] = links_json(result);
  json["peaks"] = {{"queue_flits", peak_queue_flits(result)},
                   {"held_bytes", result.peak_held_bytes},
                   {"card_memory_bytes", result.peak_card_bytes}};
  json["completion_ps"] = result.finished_ps;
}

// FNV-1a over 64 bits; `start` tells two of them apart.
std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
  std::uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash ^= hash >> 32;
  return hash * 0x9e3779b97f4a7c15U;
}

}  // namespace

Json settings_json(const Settings& given) {
  const Settings settings = with_defaults(given);
  Json all;
  for (const Key& key : netsim::keys()) {
    if (key.name == "run.threads") continue;
    std::visit([&](const auto& value) { all[std::string(key.name)] = value; },
               value_of(settings, key));
  }
  return all;
}

std::string file_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string result_json(const Settings& settings, const RunResult& result, const Speed& speed) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kResultVersion;
  json["model"] = kModelVersion;
  json["settings"] = settings_json(settings);
  add_figures(json, result);
  const double rate = speed.seconds > 0 ? static_cast<double>(result.hops) / speed.seconds : 0;
  json["this_run"] = {{"threads", settings.threads},       {"note", result.note},
                      {"seconds", speed.seconds},          {"cpu_seconds", speed.cpu_seconds},
                      {"packet_hops_per_s", rate},         {"events", result.events},
                      {"memory_bytes", speed.memory_bytes}};
  return file_text(json);
}

bool is_result_of(const Settings& settings, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return false;
  return json.value("format", Json()) == kFormat &&
         json.value("version", Json()) == kResultVersion &&
         json.value("model", Json()) == kModelVersion &&
         json.value("settings", Json()) == settings_json(settings) && json.contains("this_run");
}

std::string name_of(const Settings& settings, std::string_view files) {
  std::string all = "model " + std::to_string(kModelVersion) + ", result " +
                    std::to_string(kResultVersion) + "\n" + complete_text(settings);
  all += files;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name;
  for (const std::uint64_t start : {0xcbf29ce484222325U, 0x6c62272e07bb0142U}) {
    const std::uint64_t hash = hash_of(all, start);
    for (int shift = 60; shift >= 0; shift -= 4) name += kDigits[hash >> shift & 15];
  }
  return name;
}

}  // namespace photon::netsim::command
