// photon_atomic(): one word of a peer's memory becomes itself with the word at lbuf.
//
//   local    8-byte id, probed here when it was carried out
//   remote   8-byte id, probed at the peer after that
#include <photon/atomic.h>

#include <cstring>
#include <optional>

#include "compat/entry.hpp"
#include "compat/warn.hpp"
#include "compat/with_room.hpp"

using photon::classic::flags_of;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::warn;
using photon::classic::with_room;
using photon::classic::with_session;

namespace {

struct Word {
  ph_type type;
  std::uint64_t size_bytes;
};

std::optional<Word> word_of(photon_datatype datatype) noexcept {
  switch (datatype) {
    case PHOTON_INT32: return Word{PH_INT32, 4};
    case PHOTON_UINT32: return Word{PH_UINT32, 4};
    case PHOTON_INT64: return Word{PH_INT64, 8};
    case PHOTON_UINT64: return Word{PH_UINT64, 8};
    case PHOTON_FLOAT: return Word{PH_FLOAT, 4};
    case PHOTON_DOUBLE: return Word{PH_DOUBLE, 8};
    default: return std::nullopt;
  }
}

std::optional<ph_op> op_of(photon_atomic_op op, ph_type type) noexcept {
  const bool is_real = type == PH_FLOAT || type == PH_DOUBLE;
  if (op == PHOTON_ATOMIC_SUM) return PH_OP_ADD;
  if (op == PHOTON_ATOMIC_MIN && !is_real) return PH_OP_MIN;
  if (op == PHOTON_ATOMIC_MAX && !is_real) return PH_OP_MAX;
  return std::nullopt;
}

int refuse(const char* why) noexcept {
  warn("photon_atomic", why);
  return PHOTON_ERROR;
}

}  // namespace

extern "C" {

int photon_atomic(int proc, photonBuffer lbuf, photonBuffer rbuf, photon_datatype datatype,
                  photon_atomic_op op, photon_rid local, photon_rid remote, int flags) {
  return with_session("photon_atomic", [&](Session& session) -> Said {
    if (lbuf == nullptr || rbuf == nullptr || lbuf->addr == 0)
      return refuse("there is no operand or no place for it: a buffer is null");
    const auto word = word_of(datatype);
    if (!word) return refuse("types are INT32, UINT32, INT64, UINT64, FLOAT and DOUBLE");
    const auto known = op_of(op, word->type);
    if (!known)
      return refuse("operations are SUM, and for integers MIN and MAX; take another or use a get");
    if (lbuf->size != word->size_bytes || rbuf->size < word->size_bytes)
      return refuse("it is one word: lbuf's size is that of the type, rbuf's not less");
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = {rbuf->addr, rbuf->priv.key0};
    args.op = *known;
    args.type = word->type;
    std::memcpy(&args.operand, reinterpret_cast<const void*>(lbuf->addr), word->size_bytes);
    args.local = {&local, sizeof local};
    args.remote = {&remote, sizeof remote};
    args.flags = flags_of(flags);
    return with_room(
        session, [&] { return ph_atomic(session.context(), static_cast<ph_rank>(proc), &args); });
  });
}

}  // extern "C"
