#include "shared_file.hpp"

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace photon::perf {
namespace {

std::optional<std::uint64_t> hex_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, 16);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

// "a-b" and "a:b": two numbers with a character between.
struct Two {
  std::uint64_t first;
  std::uint64_t second;
};
std::optional<Two> two_of(std::string_view text, char between) {
  const auto at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = hex_of(text.substr(0, at));
  const auto second = hex_of(text.substr(at + 1));
  return first && second ? std::optional(Two{*first, *second}) : std::nullopt;
}

}  // namespace

// A line: 7f00-7f10 rw-s 00001000 00:01 1234   /memfd:name (deleted)
Mappings::Mappings() {
  std::ifstream file("/proc/self/maps");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string range;
    std::string access;
    std::string offset;
    std::string device;
    std::uint64_t inode = 0;
    if (!(words >> range >> access >> offset >> device >> inode) || access != "rw-s") continue;
    const auto ends = two_of(range, '-');
    const auto numbers = two_of(device, ':');
    const auto start = hex_of(offset);
    if (!ends || !numbers || !start) continue;
    const auto device_number = numbers->first << 32 | numbers->second;
    shared_.push_back({ends->first, ends->second, {device_number, inode, *start}});
  }
}

FilePlace Mappings::file_of(const std::byte* address) const noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  for (const auto& mapping : shared_) {
    if (at < mapping.start || at >= mapping.end) continue;
    const auto offset = mapping.place.offset + (at - mapping.start);
    return {mapping.place.device, mapping.place.inode, offset};
  }
  return {};
}

std::byte* Mappings::here(const FilePlace& place, std::size_t size_bytes) const noexcept {
  for (const auto& mapping : shared_) {
    const auto mapped_bytes = mapping.end - mapping.start;
    const bool same = place.inode != 0 && place.inode == mapping.place.inode &&
                      place.device == mapping.place.device;
    if (!same || place.offset < mapping.place.offset) continue;
    const auto distance = place.offset - mapping.place.offset;
    if (distance > mapped_bytes || mapped_bytes - distance < size_bytes) continue;
    return reinterpret_cast<std::byte*>(mapping.start + distance);
  }
  return nullptr;
}

}  // namespace photon::perf
