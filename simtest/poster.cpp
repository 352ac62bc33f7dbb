// The arguments of a call, as its step says; the wrong ones too.
#include "simtest/poster.hpp"

#include <algorithm>
#include <cstring>

namespace photon::simtest {

ph_target Poster::place(const Operation& op, Oracle& oracle) const {
  const Step& step = *op.step;
  const ph_rank target = op.target() < shown_.size() ? op.target() : op.initiator;
  const Shown& shown = shown_[target];
  RankMemory& memory = oracle.memory(target);
  const ph_region* region = &shown.window;
  if (step.area == Area::library) region = &shown.library;
  if (step.area == Area::words) region = &shown.words;
  if (is_lent(step.area)) region = &memory.lease(step.area).region;
  if (step.fault == Fault::no_access) region = is_get(step) ? &shown.inner : &shown.library;
  ph_target at = ph_at(region, step.offset);
  if (step.fault == Fault::out_of_range) at.address += region->size_bytes - kTailBytes;
  if (step.fault == Fault::wrong_key) at.key ^= std::uint64_t{1} << 40;
  if (step.fault == Fault::stale_key) {
    const Lease& extra = memory.lease(Area::extra);
    at = ph_at(&extra.region, 0);
    at.key = extra.stale_key != 0 ? extra.stale_key : at.key ^ std::uint64_t{1} << 40;
  }
  return at;
}

ph_status Poster::put(ph_context* context, Operation& op, ph_target target) {
  const Step& step = *op.step;
  ph_put_args args{};
  args.size = sizeof args;
  args.source = step.fault == Fault::null_memory ? nullptr : op.buffer.data();
  args.size_bytes = op.size_bytes();
  args.target = target;
  args.local = {local_id_.data(), step.local_id_bytes};
  args.remote = {remote_id_.data(), step.remote_id_bytes};
  args.flags = step.flags;
  if (step.fault == Fault::unknown_flag) args.flags |= 1u << 20;
  if (step.requested) args.request = &op.request;
  return ph_put(context, op.target(), &args);
}

ph_status Poster::get(ph_context* context, Operation& op, ph_target source) {
  const Step& step = *op.step;
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = step.fault == Fault::null_memory ? nullptr : op.destination().data();
  args.size_bytes = op.size_bytes();
  args.source = source;
  args.local = {local_id_.data(), step.local_id_bytes};
  args.remote = {remote_id_.data(), step.remote_id_bytes};
  args.flags = step.flags;
  if (step.fault == Fault::unknown_flag) args.flags |= 1u << 20;
  if (step.requested) args.request = &op.request;
  return ph_get(context, op.target(), &args);
}

ph_status Poster::change(ph_context* context, Operation& op, ph_target target) {
  const Step& step = *op.step;
  const auto word = static_cast<std::uint32_t>(step.offset / sizeof(std::uint64_t));
  ph_atomic_args args{};
  args.size = sizeof args;
  args.target = target;
  args.op = step.op;
  args.type = Words::type_of(word);
  args.operand = Words::value_of(word, step.operand);
  args.compare = Words::value_of(word, step.compare);
  args.fetched = step.fetches ? op.destination().data() : nullptr;
  args.local = {local_id_.data(), step.local_id_bytes};
  args.remote = {remote_id_.data(), step.remote_id_bytes};
  args.flags = step.flags;
  if (step.requested) args.request = &op.request;
  return ph_atomic(context, op.target(), &args);
}

ph_status Poster::call(ph_context* context, Operation& op, Oracle& oracle) {
  const ph_target at = place(op, oracle);
  const Step& step = *op.step;
  write_id(op.number, PH_LOCAL, std::span(local_id_).first(step.local_id_bytes));
  write_id(op.number, PH_REMOTE, std::span(remote_id_).first(step.remote_id_bytes));
  ph_u64_ids ids{};
  switch (acting_verb(step)) {
    case Verb::put_u64:
      std::memcpy(&ids.local, local_id_.data(), sizeof ids.local);
      std::memcpy(&ids.remote, remote_id_.data(), sizeof ids.remote);
      return ph_put_u64(context, op.target(), {op.buffer.data(), op.buffer.size()}, at, ids);
    case Verb::notify:
      std::memcpy(&ids.remote, remote_id_.data(), sizeof ids.remote);
      return ph_notify(context, op.target(), ids.remote);
    case Verb::get: return get(context, op, at);
    case Verb::atomic: return change(context, op, at);
    case Verb::put_vector:
    case Verb::get_vector: return list(context, op, oracle);
    case Verb::put_strided:
    case Verb::get_strided: return strided(context, op, at);
    case Verb::get_u64: {
      const std::span<std::byte> room = op.destination();
      std::memcpy(&ids.local, local_id_.data(), sizeof ids.local);
      std::memcpy(&ids.remote, remote_id_.data(), sizeof ids.remote);
      return ph_get_u64(context, op.target(), {room.data(), room.size()}, at, ids);
    }
    default: return put(context, op, at);
  }
}

}  // namespace photon::simtest
