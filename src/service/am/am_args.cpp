#include "service/am/am_args.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace photon::service::am {

namespace {

constexpr std::uint32_t kSendFlags = PH_NO_LCE | PH_DELIVERED | PH_AM_REPLY | PH_AM_MAY_WAIT;

bool wraps(const void* data, std::uint64_t size_bytes) noexcept {
  return reinterpret_cast<std::uint64_t>(data) > ~size_bytes;
}

// Null: nothing is wrong.
const char* wrong_with_sizes(const ph_am_args& args) noexcept {
  if (args.header_bytes > PH_AM_HEADER_BYTES) return "the header has more than 4096 bytes";
  if (args.header_bytes != 0 && args.header == nullptr)
    return "the header has bytes but its pointer is null";
  if (args.payload_bytes != 0 && args.payload == nullptr)
    return "the payload has bytes but its pointer is null";
  if (wraps(args.header, args.header_bytes) || wraps(args.payload, args.payload_bytes))
    return "a pointer and its size wrap around";
  if (args.blocks_count == 0) return nullptr;
  if (args.payload != nullptr || args.payload_bytes != 0)
    return "the payload is either one block or a list, not both";
  if (args.blocks_count > PH_AM_BLOCKS) return "the list has more than 1024 blocks";
  if (args.blocks == nullptr) return "the list of blocks is null";
  return nullptr;
}

// As above; the sum of the list is handed back.
const char* wrong_with_blocks(std::span<const ph_const_block> blocks, std::uint64_t& sum) noexcept {
  sum = 0;
  for (const ph_const_block& one : blocks) {
    if (one.size_bytes != 0 && one.data == nullptr) return "a block has bytes but is null";
    if (wraps(one.data, one.size_bytes)) return "a block and its size wrap around";
    if (one.size_bytes > ~sum) return "the sizes of the blocks wrap around";
    sum += one.size_bytes;
  }
  return nullptr;
}

const char* wrong_with_flags(const ph_am_args& args, Asker asker) noexcept {
  if ((args.flags & ~kSendFlags) != 0) return "a flag is unknown";
  if (asker == Asker::reply && (args.flags & PH_AM_REPLY) != 0)
    return "a reply cannot want one (PH_AM_REPLY)";
  if (args.request != nullptr && (args.flags & PH_NO_LCE) != 0)
    return "a request is a local completion, and PH_NO_LCE wants none";
  if (args.local.size_bytes != 0 && args.local.data == nullptr)
    return "the local id has bytes but its data is null";
  return nullptr;
}

}  // namespace

std::uint64_t first_bytes_of(const ph_id& id) noexcept {
  std::uint64_t word = 0;
  if (id.size_bytes != 0)
    std::memcpy(&word, id.data, std::min<std::size_t>(sizeof word, id.size_bytes));
  return word;
}

ph_status Checked::check(Port& port, Rank to, const ph_am_args& args, Asker asker) {
  const char* const call = asker == Asker::reply ? "am_reply" : "am_send";
  const auto wrong = [&](const std::string& why) {
    return port.fail(PH_ERR_ARGUMENT, to,
                     std::string(call) + " of message " + std::to_string(args.id) + ": " + why);
  };
  if (args.size != sizeof args) return wrong("args->size is not sizeof(ph_am_args)");
  if (args.id > PH_AM_MAX_ID) return wrong("the id is over 65535");
  if (const char* const why = wrong_with_flags(args, asker); why != nullptr) return wrong(why);
  if (const char* const why = wrong_with_sizes(args); why != nullptr) return wrong(why);
  block_ = {args.payload, args.payload_bytes};
  const bool is_list = args.blocks_count != 0;
  draft.payload = is_list ? std::span(args.blocks, args.blocks_count)
                          : std::span<const ph_const_block>(&block_, 1);
  if (const char* const why = wrong_with_blocks(draft.payload, draft.payload_bytes); why != nullptr)
    return wrong(why);
  const std::uint64_t most = port.config().max_cid_size;
  if (args.local.size_bytes > most)
    return port.fail(PH_ERR_ID_SIZE, to,
                     std::string(call) + ": the local id has " +
                         std::to_string(args.local.size_bytes) + " bytes, the limit is " +
                         std::to_string(most) + "; raise PHOTON_MAX_CID_SIZE");
  draft.header = {static_cast<const std::byte*>(args.header), args.header_bytes};
  draft.immediate = args.immediate;
  is_delivered = (args.flags & PH_DELIVERED) != 0 && (args.flags & PH_NO_LCE) == 0;
  may_wait = (args.flags & PH_AM_MAY_WAIT) != 0;
  Word& word = draft.head.word;
  word.id = static_cast<std::uint16_t>(args.id);
  word.header_bytes = static_cast<std::uint16_t>(args.header_bytes);
  word.flags = static_cast<std::uint8_t>((args.immediate != 0 ? kHasImmediate : 0) |
                                         ((args.flags & PH_AM_REPLY) != 0 ? kWantsReply : 0) |
                                         (asker == Asker::reply ? kIsReply : 0) |
                                         (is_delivered ? kTellsHandled : 0));
  end.rank = to;
  end.local = args.local;
  end.flags = args.flags & PH_NO_LCE;
  end.is_beyond = asker != Asker::user;
  end.request = args.request;
  end.size_bytes = draft.payload_bytes;
  return PH_OK;
}

}  // namespace photon::service::am
