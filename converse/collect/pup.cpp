#include "converse/collect/pup.hpp"

#include <pup_c.h>

#include <cstring>
#include <new>

#include "converse/base/pe.hpp"

namespace photon::converse {

void Pup::bytes(const char* call, void* values, std::size_t count,
                std::size_t size_bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, size_bytes, &all) || all > limit_ - used_)
    refuse(call, "%zu values of %zu bytes behind %zu bytes: that is more than was measured", count,
           size_bytes, used_);
  if (values == nullptr && all != 0 && kind_ != Kind::sizing)
    refuse(call, "%zu values of %zu bytes at null", count, size_bytes);
  if (all == 0) return;
  if (kind_ == Kind::packing) std::memcpy(at_ + used_, values, all);
  if (kind_ == Kind::unpacking) std::memcpy(values, at_ + used_, all);
  used_ += all;
}

namespace {

Pup& walk_of(const char* call, pup_er p) noexcept {
  if (p == nullptr) refuse(call, "the pup_er is null");
  return *static_cast<Pup*>(p);
}

template <typename Value>
void walk(const char* call, pup_er p, Value* values, std::size_t count) noexcept {
  walk_of(call, p).bytes(call, values, count, sizeof(Value));
}

pup_er kept(const char* call, const Pup& pup, bool has_memory) noexcept {
  if (!has_memory) refuse(call, "the memory is null");
  Pup* made = new (std::nothrow) Pup(pup);
  if (made == nullptr) refuse(call, "no memory");
  return made;
}

int is_kind(const char* call, pup_er p, Pup::Kind kind) noexcept {
  return walk_of(call, p).kind() == kind ? 1 : 0;
}

}  // namespace

}  // namespace photon::converse

using photon::converse::is_kind;
using photon::converse::kept;
using photon::converse::Pup;
using photon::converse::walk;

int pup_isPacking(const pup_er p) { return is_kind(__func__, p, Pup::Kind::packing); }
int pup_isUnpacking(const pup_er p) { return is_kind(__func__, p, Pup::Kind::unpacking); }
int pup_isSizing(const pup_er p) { return is_kind(__func__, p, Pup::Kind::sizing); }
int pup_isDeleting(const pup_er /*p*/) { return 0; }
std::size_t pup_size(const pup_er p) { return photon::converse::walk_of(__func__, p).used(); }

pup_er pup_new_sizer() { return kept(__func__, Pup::sizer(), true); }
pup_er pup_new_toMem(void* to) { return kept(__func__, Pup::to(to, Pup::kNoLimit), to != nullptr); }
pup_er pup_new_fromMem(const void* from) {
  return kept(__func__, Pup::from(from), from != nullptr);
}
void pup_destroy(pup_er p) { delete static_cast<Pup*>(p); }

void pup_bytes(pup_er p, void* bytes, std::size_t count) {
  walk(__func__, p, static_cast<std::byte*>(bytes), count);
}
void pup_pointer(pup_er p, void** value) { walk(__func__, p, value, 1); }
void pup_char(pup_er p, char* value) { walk(__func__, p, value, 1); }
void pup_chars(pup_er p, char* values, std::size_t count) { walk(__func__, p, values, count); }
void pup_uchar(pup_er p, unsigned char* value) { walk(__func__, p, value, 1); }
void pup_uchars(pup_er p, unsigned char* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_short(pup_er p, short* value) { walk(__func__, p, value, 1); }
void pup_shorts(pup_er p, short* values, std::size_t count) { walk(__func__, p, values, count); }
void pup_ushort(pup_er p, unsigned short* value) { walk(__func__, p, value, 1); }
void pup_ushorts(pup_er p, unsigned short* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_int(pup_er p, int* value) { walk(__func__, p, value, 1); }
void pup_ints(pup_er p, int* values, std::size_t count) { walk(__func__, p, values, count); }
void pup_uint(pup_er p, unsigned int* value) { walk(__func__, p, value, 1); }
void pup_uints(pup_er p, unsigned int* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_long(pup_er p, long* value) { walk(__func__, p, value, 1); }
void pup_longs(pup_er p, long* values, std::size_t count) { walk(__func__, p, values, count); }
void pup_ulong(pup_er p, unsigned long* value) { walk(__func__, p, value, 1); }
void pup_ulongs(pup_er p, unsigned long* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_size_t(pup_er p, std::size_t* value) { walk(__func__, p, value, 1); }
void pup_size_ts(pup_er p, std::size_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_int8(pup_er p, std::int8_t* value) { walk(__func__, p, value, 1); }
void pup_int8s(pup_er p, std::int8_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_int16(pup_er p, std::int16_t* value) { walk(__func__, p, value, 1); }
void pup_int16s(pup_er p, std::int16_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_int32(pup_er p, std::int32_t* value) { walk(__func__, p, value, 1); }
void pup_int32s(pup_er p, std::int32_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_int64(pup_er p, std::int64_t* value) { walk(__func__, p, value, 1); }
void pup_int64s(pup_er p, std::int64_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_uint8(pup_er p, std::uint8_t* value) { walk(__func__, p, value, 1); }
void pup_uint8s(pup_er p, std::uint8_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_uint16(pup_er p, std::uint16_t* value) { walk(__func__, p, value, 1); }
void pup_uint16s(pup_er p, std::uint16_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_uint32(pup_er p, std::uint32_t* value) { walk(__func__, p, value, 1); }
void pup_uint32s(pup_er p, std::uint32_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_uint64(pup_er p, std::uint64_t* value) { walk(__func__, p, value, 1); }
void pup_uint64s(pup_er p, std::uint64_t* values, std::size_t count) {
  walk(__func__, p, values, count);
}
void pup_float(pup_er p, float* value) { walk(__func__, p, value, 1); }
void pup_floats(pup_er p, float* values, std::size_t count) { walk(__func__, p, values, count); }
void pup_double(pup_er p, double* value) { walk(__func__, p, value, 1); }
void pup_doubles(pup_er p, double* values, std::size_t count) { walk(__func__, p, values, count); }
