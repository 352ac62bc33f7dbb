#include "checker/trace.hpp"

#include <array>
#include <sstream>

namespace photon::checker {

namespace {

const char* name_of(std::memory_order order) {
  constexpr std::array kNames{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return kNames[static_cast<std::size_t>(order)];
}

const char* name_of(OpKind kind) {
  constexpr std::array kNames{"load",          "store",       "exchange",    "compare_exchange",
                              "fetch_add",     "cell get",    "cell set",    "full_fence",
                              "heavy_barrier", "event write", "event read",  "event wait",
                              "relax",         "wait again",  "expectation", "done"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool has_order(OpKind kind) {
  return kind == OpKind::load || kind == OpKind::store || is_read_modify_write(kind);
}
bool has_operand(OpKind kind) {
  return kind == OpKind::store || kind == OpKind::cell_set || kind == OpKind::event_write ||
         is_read_modify_write(kind);
}

}  // namespace

const std::string& Trace::name(LocationId location) const {
  return program_.locations()[location].name;
}

void Trace::add(const State& before, const Move& move, const State& after) {
  const Draft draft = model_.look(before);
  std::ostringstream line;
  line << ++lines_ << ". " << program_.thread_name(move.thread) << ": ";
  switch (move.kind) {
    case Move::Kind::step:
      line << describe_step(draft, move.thread, model_.look(after));
      if (move.target != 0) line << " (stale)";
      break;
    case Move::Kind::drain:
      for (const Buffered& entry : draft.thread(move.thread).buffer)
        if (entry.location == move.target) {
          line << "    buffered store " << name(entry.location) << " = " << entry.value
               << " becomes visible";
          break;
        }
      break;
    case Move::Kind::interrupt:
      line << "heavy_barrier reaches " << program_.thread_name(move.target);
      break;
    case Move::Kind::idle: line << "spins on"; break;
  }
  text_ += line.str() + "\n";
}

std::string Trace::describe_step(const Draft& before, unsigned thread, const Draft& after) const {
  const Operation& op = program_.node(before.thread(thread).node).op;
  const Node& next = program_.node(after.thread(thread).node);
  std::ostringstream text;
  text << name_of(op.kind);
  if (op.location != kNoLocation) text << " " << name(op.location);
  if (op.kind == OpKind::compare_exchange) text << " " << op.expected << " ->";
  if (has_operand(op.kind)) text << " " << op.operand;
  if (has_order(op.kind)) text << " " << name_of(op.order);
  const bool advanced = before.thread(thread).node != after.thread(thread).node;
  if (advanced && (reads(op.kind) || is_event_read(op.kind))) text << " found " << next.result;
  if (!before.thread(thread).buffer.empty() && after.thread(thread).buffer.empty())
    text << " (buffer emptied)";
  return text.str();
}

}  // namespace photon::checker
