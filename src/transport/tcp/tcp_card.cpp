#include "transport/tcp/tcp_card.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace photon::transport::tcp {

namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

struct SharedSetting {
  const char* name;
  std::uint64_t TcpCard::*value;
};

constexpr SharedSetting kMustBeEqual[] = {
    {"number of ranks", &TcpCard::ranks_count}, {"ring_lines", &TcpCard::ring_lines},
    {"bulk_bytes", &TcpCard::bulk_bytes},       {"bulk_chunk", &TcpCard::bulk_chunk},
    {"ledger_slots", &TcpCard::ledger_slots},   {"max_cid_size", &TcpCard::max_cid_size},
};

}  // namespace

TcpCard describe_settings(const base::Config& config, std::uint32_t ranks_count) {
  TcpCard card;
  card.ranks_count = ranks_count;
  card.ring_lines = config.ring_lines;
  card.bulk_bytes = config.bulk_bytes;
  card.bulk_chunk = config.bulk_chunk;
  card.ledger_slots = config.ledger_slots;
  card.max_cid_size = config.max_cid_size;
  return card;
}

std::span<const std::byte> encode(const TcpCard& card) noexcept {
  return std::as_bytes(std::span(&card, 1));
}

base::Result<TcpCard> decode_card(std::span<const std::byte> bytes) {
  TcpCard card;
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  if (bytes.size() >= sizeof magic + sizeof version) {
    std::memcpy(&magic, bytes.data(), sizeof magic);
    std::memcpy(&version, bytes.data() + sizeof magic, sizeof version);
  }
  if (magic != kCardMagic)
    return base::Error{PH_ERR_PROTOCOL, 0,
                       "malformed tcp card of " + std::to_string(bytes.size()) + " bytes"};
  if (version != wire::kVersion)
    return base::Error{
        PH_ERR_BOOTSTRAP, 0,
        "it speaks version " + std::to_string(version) + " of the wire format, this rank version " +
            std::to_string(wire::kVersion) + "; run all ranks with one version of the library"};
  if (bytes.size() != sizeof card)
    return base::Error{PH_ERR_PROTOCOL, 0,
                       "malformed tcp card of " + std::to_string(bytes.size()) + " bytes"};
  std::memcpy(&card, bytes.data(), sizeof card);
  return card;
}

base::Result<> check_settings(const TcpCard& mine, const TcpCard& theirs) {
  for (const SharedSetting& one : kMustBeEqual) {
    if (mine.*one.value == theirs.*one.value) continue;
    return base::Error{
        PH_ERR_BOOTSTRAP, 0,
        std::string("setting ") + one.name + " must be the same on all ranks; here it is " +
            std::to_string(mine.*one.value) + ", there " + std::to_string(theirs.*one.value)};
  }
  return {};
}

}  // namespace photon::transport::tcp
