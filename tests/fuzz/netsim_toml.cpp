// Whatever stands in a file of settings: the reader of photon-netsim.
//
// Input: the text.
//
// A finding is an abort() here or a report of AddressSanitizer: of what was taken every value is
// allowed and reads back as itself, what was not is said in one sentence with the file's name.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "netsim/command/toml.hpp"
#include "netsim/run/keys.hpp"

namespace {

namespace netsim = photon::netsim;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const netsim::command::Document& document) {
  for (const netsim::Key& key : netsim::keys()) {
    const netsim::Value value = netsim::value_of(document.settings, key);
    const auto settings = netsim::with(netsim::Settings{}, key, netsim::text_of(value));
    require(settings && netsim::value_of(*settings, key) == value);
  }
  for (const netsim::command::Axis& axis : document.axes) {
    require(!axis.values.empty());
    for (const std::string& value : axis.values) {
      require(static_cast<bool>(netsim::with(document.settings, axis.key, value)));
    }
  }
  for (const auto& [key, line] : document.lines) {
    require(netsim::find_key(key) != nullptr && line >= 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto document = netsim::command::document_of("a.toml", text);
  if (document) {
    check(*document);
  } else {
    require(document.error().starts_with("a.toml:") &&
            document.error().find('\n') == std::string::npos);
  }
  return 0;
}
