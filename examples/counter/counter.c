/*
 * A counter that lives at rank 0 and is changed by active messages (am.h): each rank adds to it,
 * and the handler that adds answers with the sum. photonrun -n 4 counter [additions]
 */
#include <inttypes.h>
#include <photon/photon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAdd = 1, kSum = 2 }; /* the handlers' numbers, the same on all ranks */

/* Handlers of one lane never run at the same time, so nothing here needs a lock. */
typedef struct {
  uint64_t sum;     /* rank 0: the counter */
  uint64_t answers; /* that have come to this rank */
  uint64_t latest;  /* the sum in the latest of them */
  int is_wrong;     /* an answer was no larger than the one before */
} Counter;

/* The payload of a message is one number. Else 0. */
static uint64_t number_in(const ph_am_message* message) {
  uint64_t number = 0;
  if (message->payload_bytes == sizeof number) memcpy(&number, message->payload, sizeof number);
  return number;
}

/* Rank 0 adds, and answers. What a handler returns the sender hears if it is an error. */
static ph_status add(void* user, const ph_am_message* message, ph_am_landing* landing) {
  Counter* const counter = user;
  ph_am_args answer = {.size = sizeof answer, .id = kSum, .flags = PH_NO_LCE};
  (void)landing; /* the payload is used in place */
  counter->sum += number_in(message);
  answer.payload = &counter->sum; /* copied by the call */
  answer.payload_bytes = sizeof counter->sum;
  return ph_am_reply(message, &answer);
}

/* Who has asked sees the answers in the order of its questions: the counter only grows. */
static ph_status take_sum(void* user, const ph_am_message* message, ph_am_landing* landing) {
  Counter* const counter = user;
  const uint64_t sum = number_in(message);
  (void)landing;
  counter->is_wrong |= sum <= counter->latest;
  counter->latest = sum;
  ++counter->answers;
  return PH_OK;
}

static ph_status add_all(ph_context* context, uint64_t additions) {
  ph_am_args args = {.size = sizeof args, .id = kAdd, .flags = PH_NO_LCE | PH_AM_REPLY};
  ph_status status = PH_OK;
  for (uint64_t number = 1; number <= additions && status == PH_OK; ++number) {
    args.payload = &number; /* copied, too: so small a payload always is */
    args.payload_bytes = sizeof number;
    while ((status = ph_am_send(context, 0, &args)) == PH_AGAIN) /* enough answers are to come */
      ph_am_poll(context, 0); /* runs the handlers that are due */
  }
  return status;
}

int main(int argc, char** argv) {
  const uint64_t additions = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
  ph_context* context;
  ph_error error;
  if (ph_context_create(NULL, &context, &error) != PH_OK) {
    fprintf(stderr, "counter: %s\n", error.text);
    return 1;
  }
  Counter counter = {0};
  const uint64_t ranks = ph_size_of(context);

  /* Nobody sends before all have registered: the barrier sees to it. */
  if (ph_am_register(context, kAdd, add, &counter) != PH_OK ||
      ph_am_register(context, kSum, take_sum, &counter) != PH_OK || ph_barrier(context) != PH_OK)
    goto failed;

  /* When the quiesce returns, all ranks' messages were handled, and so were the answers. */
  if (add_all(context, additions) != PH_OK || ph_am_quiesce(context, PH_FOREVER) != PH_OK)
    goto failed;

  int is_right = !counter.is_wrong && counter.answers == additions;
  if (ph_rank_of(context) == 0) {
    is_right = is_right && counter.sum == ranks * (additions * (additions + 1) / 2);
    printf("counter: %" PRIu64 " ranks, %" PRIu64 " additions each: the sum is %" PRIu64 ", %s\n",
           ranks, additions, counter.sum, is_right ? "right" : "WRONG");
  }
  if (ph_finalize(context) != PH_OK) goto failed; /* `counter` is needed until here */
  ph_context_destroy(context);
  return is_right ? 0 : 1;

failed:
  ph_last_error(context, &error);
  fprintf(stderr, "counter: rank %u: %s\n", ph_rank_of(context), error.text);
  ph_context_destroy(context);
  return 1;
}
