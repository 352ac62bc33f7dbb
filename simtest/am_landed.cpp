#include "simtest/am_landed.hpp"

#include <algorithm>

#include "simtest/am_model.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kLandingGuard = 64;
constexpr std::uint64_t kLandingSlack = 5;  // that a landing has beyond its payload

}  // namespace

AmLanded::AmLanded(std::uint32_t number, const AmPlace& place, std::uint64_t payload_bytes,
                   bool is_pulled)
    : number_(number), place_(place), payload_bytes_(payload_bytes) {
  const bool is_empty = payload_bytes == 0;
  is_told_ = place.is_told;
  part_bytes_ = std::max<std::uint64_t>(payload_bytes, 1);
  if (place.chunk_bytes != 0 && place.kind != AmPlace::Kind::drop)
    part_bytes_ = std::min(part_bytes_, place.chunk_bytes);
  switch (place.kind) {
    case AmPlace::Kind::in_place:
      if (is_pulled) error_ = PH_ERR_ARGUMENT;
      if (!is_pulled && !is_empty) is_told_ = false;  // nothing lands
      break;
    case AmPlace::Kind::buffer: sizes_[0] = payload_bytes + kLandingSlack; break;
    case AmPlace::Kind::blocks:
      sizes_ = {payload_bytes / 3 + 1, payload_bytes - payload_bytes / 3 + kLandingSlack};
      break;
    case AmPlace::Kind::cycle: sizes_[0] = place.chunk_bytes * place.places; break;
    case AmPlace::Kind::drop: break;
    case AmPlace::Kind::small:
      sizes_[0] = is_empty ? 1 : payload_bytes - 1;
      error_ = is_empty ? PH_OK : PH_ERR_RANGE;
      break;
    case AmPlace::Kind::doubled:
      sizes_[0] = payload_bytes + 1;
      error_ = PH_ERR_ARGUMENT;
      break;
  }
  memory_.resize(sizes_[0] + sizes_[1] + 3 * kLandingGuard);
  Pattern(Purpose::landing, number_).fill(memory_);
}

std::span<std::byte> AmLanded::span_of(std::size_t block) noexcept {
  const std::uint64_t begin = block == 0 ? kLandingGuard : 2 * kLandingGuard + sizes_[0];
  return std::span(memory_).subspan(begin, sizes_[block]);
}

void AmLanded::name(ph_am_landing& landing, ph_am_done done, void* argument) noexcept {
  const std::span<std::byte> first = span_of(0), second = span_of(1);
  landing.chunk_bytes = place_.chunk_bytes;
  if (place_.is_told) {
    landing.done = done;
    landing.argument = argument;
  }
  if (place_.kind == AmPlace::Kind::in_place) return;
  if (place_.kind == AmPlace::Kind::drop || place_.kind == AmPlace::Kind::doubled)
    landing.flags |= PH_AM_DROP;
  if (place_.kind == AmPlace::Kind::drop) return;
  if (place_.kind == AmPlace::Kind::cycle) landing.flags |= PH_AM_CYCLE;
  if (place_.kind != AmPlace::Kind::blocks) {
    landing.buffer = first.data();
    landing.buffer_bytes = first.size();
    return;
  }
  list_ = {{{first.data(), first.size()}, {nullptr, 0}, {second.data(), second.size()}}};
  landing.blocks = list_.data();
  landing.blocks_count = list_.size();
}

void AmLanded::spoil_list() noexcept {
  for (ph_block& one : list_) one = {nullptr, ~std::size_t{0}};
}

// Of a byte of the payload: in the memory.
std::uint64_t AmLanded::offset_of(std::uint64_t byte) const noexcept {
  if (place_.kind == AmPlace::Kind::cycle)
    return kLandingGuard + byte / part_bytes_ % place_.places * part_bytes_ + byte % part_bytes_;
  return byte < sizes_[0] ? kLandingGuard + byte : 2 * kLandingGuard + byte;
}

ph_am_part AmLanded::next() const noexcept {
  ph_am_part part{};
  part.offset = told_;
  if (error_ != PH_OK || failure_ != PH_OK) {
    part.status = error_ != PH_OK ? error_ : failure_;
    part.is_last = 1;
    return part;
  }
  part.size_bytes = std::min(part_bytes_, payload_bytes_ - told_);
  part.is_last = told_ + part.size_bytes == payload_bytes_;
  const bool has_place = place_.kind == AmPlace::Kind::buffer ||
                         place_.kind == AmPlace::Kind::cycle || place_.kind == AmPlace::Kind::small;
  if (has_place) part.data = const_cast<std::byte*>(memory_.data() + offset_of(told_));
  return part;
}

ph_status AmLanded::answer(const ph_am_part& part) const noexcept {
  return part.status == PH_OK && place_.fails_at == parts_ + 1 ? kAmFailure : PH_OK;
}

std::vector<std::byte> AmLanded::bytes(const ph_am_part& part) const {
  std::vector<std::byte> all;
  if (place_.kind == AmPlace::Kind::drop || place_.kind == AmPlace::Kind::in_place) return all;
  for (std::uint64_t i = 0; i < part.size_bytes; ++i)
    all.push_back(memory_[offset_of(part.offset + i)]);
  return all;
}

// Whoever writes there when it is over is found out.
void AmLanded::told(const ph_am_part& part, ph_status returned) noexcept {
  told_ += part.size_bytes;
  ++parts_;
  if (part.is_last == 0) {
    failure_ = returned;
    return;
  }
  end();
}

void AmLanded::ignore() noexcept {
  is_told_ = false;
  end();
}

void AmLanded::end() noexcept {
  is_over_ = true;
  for (const std::size_t block : {0u, 1u}) Pattern(Purpose::junk, number_).fill(span_of(block));
}

bool AmLanded::is_damaged() const {
  const std::span<const std::byte> all(memory_);
  const std::uint64_t second = kLandingGuard + sizes_[0];
  const std::uint64_t third = all.size() - kLandingGuard;
  const auto differs = [&](Purpose purpose, std::uint64_t begin, std::uint64_t size,
                           std::uint64_t first) {
    return Pattern(purpose, number_).difference(all.subspan(begin, size), first).has_value();
  };
  for (const std::uint64_t guard : {std::uint64_t{0}, second, third})
    if (differs(Purpose::landing, guard, kLandingGuard, guard)) return true;
  return is_over_ && (differs(Purpose::junk, kLandingGuard, sizes_[0], 0) ||
                      differs(Purpose::junk, second + kLandingGuard, sizes_[1], 0));
}

}  // namespace photon::simtest
