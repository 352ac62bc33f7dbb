// The queues of priorities of a PE and of its process.
#include "converse/run/schedule.hpp"

namespace photon::converse {

namespace {

constexpr unsigned kIntBits = 32;
constexpr unsigned kLongBits = 64;

// A message without a priority runs behind all whose first bit is 0, and before ints from 0 on,
// whose first bit is 1: so it has the vector of that bit alone.
constexpr unsigned kPlainBits = 1;
constexpr unsigned kPlain = 0x80000000;

// A length of int and long is not the program's to choose, and many leave it out.
ph_task_priority priority_of(const char* call, int strategy, int bits,
                             const unsigned* words) noexcept {
  const auto length = static_cast<std::uint32_t>(bits);
  switch (strategy) {
    case CQS_QUEUEING_FIFO: return {PH_TASK_BITS_FIFO, kPlainBits, &kPlain};
    case CQS_QUEUEING_LIFO: return {PH_TASK_BITS_LIFO, kPlainBits, &kPlain};
    case CQS_QUEUEING_IFIFO: return {PH_TASK_INT_FIFO, kIntBits, words};
    case CQS_QUEUEING_ILIFO: return {PH_TASK_INT_LIFO, kIntBits, words};
    case CQS_QUEUEING_BFIFO: return {PH_TASK_BITS_FIFO, length, words};
    case CQS_QUEUEING_BLIFO: return {PH_TASK_BITS_LIFO, length, words};
    case CQS_QUEUEING_LFIFO: return {PH_TASK_LONG_FIFO, kLongBits, words};
    case CQS_QUEUEING_LLIFO: return {PH_TASK_LONG_LIFO, kLongBits, words};
    default: refuse(call, "there is no strategy %d", strategy);
  }
}

void check_priority(const char* call, int strategy, int bits, const unsigned* words) noexcept {
  if (strategy <= CQS_QUEUEING_LIFO) return;
  const bool is_vector = strategy == CQS_QUEUEING_BFIFO || strategy == CQS_QUEUEING_BLIFO;
  if (is_vector && bits < 0) refuse(call, "a priority of %d bits: it has none or more", bits);
  if (words == nullptr && !(is_vector && bits == 0)) refuse(call, "the priority is null");
}

struct Order {
  int strategy;
  int bits;
  const unsigned* words;
};

// Checks what is to be enqueued, which is the queue's then, and returns its priority.
ph_task_priority checked_order(Pe& pe, const char* call, void* message,
                               const Order& order) noexcept {
  if (message == nullptr) refuse(call, "the message is null");
  check_priority(call, order.strategy, order.bits, order.words);
  forget_lent(pe, message);
  return priority_of(call, order.strategy, order.bits, order.words);
}

void enqueue(const char* call, void* message, const Order& order) noexcept {
  Pe& pe = here(call);
  const ph_task_priority priority = checked_order(pe, call, message, order);
  ph_task_set_handler(task_of(message), pe.queue_dispatch);
  require(pe, call, ph_task_enqueue(pe.task, task_of(message), &priority));
  ++schedule_of(pe).queued;
}

void enqueue_node(const char* call, void* message, const Order& order) noexcept {
  Pe& pe = here(call);
  const ph_task_priority priority = checked_order(pe, call, message, order);
  ph_task_set_handler(task_of(message), pe.node_dispatch);
  require(pe, call, ph_task_enqueue_node(pe.task, task_of(message), &priority));
}

constexpr Order kFifo{CQS_QUEUEING_FIFO, 0, nullptr};
constexpr Order kLifo{CQS_QUEUEING_LIFO, 0, nullptr};

}  // namespace

}  // namespace photon::converse

using photon::converse::enqueue;
using photon::converse::enqueue_node;
using photon::converse::kFifo;
using photon::converse::kLifo;

void CsdEnqueueGeneral(void* message, int strategy, int bits, unsigned int* priority) {
  enqueue(__func__, message, {strategy, bits, priority});
}
void CsdNodeEnqueueGeneral(void* message, int strategy, int bits, unsigned int* priority) {
  enqueue_node(__func__, message, {strategy, bits, priority});
}
void CsdEnqueue(void* message) { enqueue(__func__, message, kFifo); }
void CsdEnqueueFifo(void* message) { enqueue(__func__, message, kFifo); }
void CsdEnqueueLifo(void* message) { enqueue(__func__, message, kLifo); }
void CsdNodeEnqueue(void* message) { enqueue_node(__func__, message, kFifo); }
void CsdNodeEnqueueFifo(void* message) { enqueue_node(__func__, message, kFifo); }
void CsdNodeEnqueueLifo(void* message) { enqueue_node(__func__, message, kLifo); }

int CsdLength(void) {
  return static_cast<int>(photon::converse::schedule_of(photon::converse::here(__func__)).queued);
}
int CsdEmpty(void) { return CsdLength() == 0 ? 1 : 0; }
