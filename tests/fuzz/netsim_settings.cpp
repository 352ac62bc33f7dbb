// Whatever stands in a file of settings: the reader of `photon-netsim run` and `sweep`.
//
// Input: the text.
//
// A finding is an abort() here or a report of AddressSanitizer: what was taken is allowed by the
// table of keys, what was not is said with the file's name and a line.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "netsim/command/toml.hpp"
#include "netsim/run/keys.hpp"

namespace {

using photon::netsim::Settings;
using photon::netsim::command::Axis;
using photon::netsim::command::Document;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Document& document) {
  for (const auto& key : photon::netsim::keys()) {
    const auto value = photon::netsim::value_of(document.settings, key);
    const auto again = photon::netsim::with(Settings{}, key, photon::netsim::text_of(value));
    require(static_cast<bool>(again) && photon::netsim::value_of(*again, key) == value);
  }
  for (const Axis& axis : document.axes) {
    require(!axis.values.empty() && photon::netsim::find_key(axis.key) != nullptr);
    for (const std::string& value : axis.values) {
      require(static_cast<bool>(photon::netsim::with(Settings{}, axis.key, value)));
    }
  }
  for (const auto& [key, line] : document.lines) {
    require(line >= 1 && photon::netsim::find_key(key) != nullptr);
    require(document.placed(key + " = ?").starts_with("a.toml:" + std::to_string(line) + ": "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto document = photon::netsim::command::document_of("a.toml", text);
  if (document) {
    check(*document);
    return 0;
  }
  const std::string& what = document.error();
  require(what.starts_with("a.toml:") && what.size() > 12);
  require(what[7] == ' ' || std::isdigit(static_cast<unsigned char>(what[7])) != 0);
  return 0;
}
