// Random numbers: SplitMix64 (Steele, Lea and Flood, 2014).
#include "converse/base/pe.hpp"

namespace photon::converse {

namespace {

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

std::uint64_t next_of(CrnStream& stream) noexcept {
  std::uint64_t mixed = stream.state += kStep;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

}  // namespace photon::converse

using photon::converse::here;
using photon::converse::next_of;

void CrnInitStream(CrnStream* stream, unsigned int seed, int type) {
  if (stream == nullptr) photon::converse::refuse(__func__, "the stream is null");
  if (type < 0 || type > 2) photon::converse::refuse(__func__, "there is no type %d", type);
  stream->state = (static_cast<std::uint64_t>(type) << 32) + seed;
  stream->state = next_of(*stream);  // seeds that follow each other are far apart
}

int CrnInt(CrnStream* stream) { return static_cast<int>(next_of(*stream) >> 33); }
double CrnDouble(CrnStream* stream) {
  return static_cast<double>(next_of(*stream) >> 11) * 0x1p-53;
}
float CrnFloat(CrnStream* stream) { return static_cast<float>(next_of(*stream) >> 40) * 0x1p-24F; }

void CrnSrand(unsigned int seed) { CrnInitStream(&here(__func__).random, seed, 0); }
int CrnRand(void) { return CrnInt(&here(__func__).random); }
double CrnDrand(void) { return CrnDouble(&here(__func__).random); }
