#include "compat/settings.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {
// What the library does where nobody asks for more.
constexpr int kPackedDefault = 192;
constexpr int kMostPacked = 1024;
constexpr unsigned kFewestLedgers = 2;
constexpr unsigned kMostLedgers = 65536;
constexpr unsigned kFewestRequests = 16;
constexpr unsigned kMostRequests = 1u << 20;
}  // namespace

namespace {

// All zero if there is no such.
ph_setting setting_of(const ph_context* context, const char* name) noexcept {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, name) == 0) return setting;
  return {};
}

// The next power of two in this range, as text.
std::string rounded(int asked, unsigned fewest, unsigned most) {
  return std::to_string(std::bit_ceil(std::clamp(static_cast<unsigned>(asked), fewest, most)));
}

}  // namespace

std::uint64_t number_in_force(const ph_context* context, const char* name) noexcept {
  return std::strtoull(setting_of(context, name).value, nullptr, 10);
}

bool is_in_force(const ph_context* context, const char* name, const char* word) noexcept {
  return std::strcmp(setting_of(context, name).value, word) == 0;
}

bool Settings::read(const photon_config_t& config) {
  if (config.backend == PHOTON_BACKEND_UGNI) {
    warn("photon_init", "the backend ugni is not built in; use default, verbs or fi");
    return false;
  }
  // Old programs wait in their own barriers for what they have posted: it must go meanwhile.
  add_unless_the_user_does("progress_thread", "on");
  if (config.backend == PHOTON_BACKEND_VERBS || config.backend == PHOTON_BACKEND_FI)
    add_unless_the_user_does("network", "ofi");
  // Old programs may leave anything in this field.
  if (config.coll == PHOTON_COLL_IFACE_PWC) add_unless_the_user_does("coll", "pwc");
  const auto& cap = config.cap;
  if (cap.max_cid_size > 0)
    add("max_cid_size",
        std::to_string(std::clamp<int>(cap.max_cid_size, sizeof(std::uint64_t), PH_MAX_ID_BYTES)));
  if (cap.small_pwc_size > kPackedDefault)
    add("packed_max", std::to_string(std::min(cap.small_pwc_size, kMostPacked)));
  // Where nothing is said: as many as may be. A program that only asks for local ids may put to one
  // that never asks for remote ones, and goes on until these are used up.
  if (cap.ledger_entries > 0)
    add("ledger_slots", rounded(cap.ledger_entries, kFewestLedgers, kMostLedgers));
  else
    add_unless_the_user_does("ledger_slots", std::to_string(kMostLedgers).c_str());
  // They cost nothing before they are used.
  const int requests = cap.max_rd > 0 ? cap.max_rd : INT_MAX;
  add_unless_the_user_does("requests", rounded(requests, kFewestRequests, kMostRequests).c_str());
  return true;
}

void Settings::add_unless_the_user_does(const char* name, const char* value) {
  const ph_setting setting = setting_of(nullptr, name);
  const bool is_his = setting.origin != nullptr && std::strcmp(setting.origin, "environment") == 0;
  if (!is_his) add(name, value);
}

void Settings::add(const char* name, std::string value) {
  texts_[count_] = std::move(value);
  options_[count_] = {name, texts_[count_].c_str()};
  ++count_;
}

}  // namespace photon::classic
