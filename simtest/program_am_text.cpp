// What a program does with active messages, in words.
#include "simtest/program_am_text.hpp"

#include <array>

#include "simtest/am_model.hpp"

namespace photon::simtest {

const char* am_name_of(Verb verb) {
  switch (verb) {
    case Verb::am_small: return "am_small";
    case Verb::am_send: return "am_send";
    case Verb::am_prepare: return "am_prepare";
    case Verb::am_poll: return "am_poll";
    case Verb::am_register: return "am_register";
    case Verb::am_unregister: return "am_unregister";
    case Verb::am_quiesce: return "am_quiesce";
    case Verb::am_begin: return "am_begin";
    default: return "?";
  }
}

namespace {

// Empty: nothing is named, and nobody is told.
std::string text_of(const AmPlace& place) {
  constexpr std::array<const char*, 7> kKinds = {"in place", "a buffer",       "blocks", "dropped",
                                                 "a cycle",  "a short buffer", "doubly"};
  if (place.kind == AmPlace::Kind::in_place && !place.is_told) return "";
  std::string text = std::string(", landing: ") + kKinds[static_cast<std::size_t>(place.kind)] +
                     (place.places != 0 ? " of " + std::to_string(place.places) + " places" : "") +
                     ", parts of " + std::to_string(place.chunk_bytes);
  if (place.is_told) text += ", told";
  if (place.fails_at != 0) text += ", failing at part " + std::to_string(place.fails_at);
  return text + (place.replies ? ", replying" : "");
}

}  // namespace

std::string am_text(const Step& step) {
  const std::string text = am_name_of(step.verb);
  const std::string id = " id " + std::to_string(kAmIds[step.offset]);
  switch (step.verb) {
    case Verb::am_small:
    case Verb::am_send:
    case Verb::am_prepare: break;
    case Verb::am_register:
    case Verb::am_unregister: return text + id;
    case Verb::am_quiesce: return text + " " + std::to_string(step.time_ns) + " ns";
    default: return text;
  }
  std::string words = text + id + " to " + std::to_string(step.peer) + ", " +
                      std::to_string(step.size_bytes) + " bytes, " + std::to_string(step.operand) +
                      " times";
  if (step.row_bytes != 0) words += ", a header of " + std::to_string(step.row_bytes);
  if (step.flags != 0) words += ", flags " + std::to_string(step.flags);
  if (step.compare != 0) words += ", an immediate";
  if (step.local_id_bytes != 0) words += ", a local id";
  if (step.fetches) words += ", in blocks";
  if (step.fault != Fault::none) words += ", wrong";
  if (step.kinds != 0) words += ", its handler does " + std::to_string(step.kinds);
  if (step.time_ns != 0) words += " after " + std::to_string(step.time_ns) + " ns";
  if (step.order != 0) words += ", and act " + std::to_string(step.order);
  words += ", its reply has " + std::to_string(step.own_gap_bytes) + " bytes";
  words += text_of(step.place);
  if (step.verb == Verb::am_prepare)
    words += ", " + std::to_string(step.far_gap_bytes) + " more asked for";
  if (step.is_one_way) words += ", cancelled";
  if (step.is_cut_off) words += ", misused";
  return words + (step.requested ? ", insisting" : "");
}

}  // namespace photon::simtest
