/*
 * A mailbox (mailbox.h) whose late writer is kept out: each writer has a part of the buffer at rank
 * 0. Rank 0 takes the buffer as it is when all but the last writer have written. What the last one
 * writes then is refused, and not a byte of the buffer changes. photonrun -n 4 late_writer
 */
#include <photon/photon.h>
#include <stdio.h>
#include <string.h>

enum { kAddress = 7, kPartBytes = 4096, kMostWriters = 63, kEmpty = 0xEE };

typedef struct {
  _Alignas(64) unsigned char parts[kMostWriters][kPartBytes];
} Buffer;

static int is_filled(const unsigned char* part, int value) {
  for (int i = 0; i < kPartBytes; ++i)
    if (part[i] != value) return 0;
  return 1;
}

static ph_status post(ph_context* context, ph_mailbox box, Buffer* buffer, uint64_t messages) {
  memset(buffer, kEmpty, sizeof *buffer);
  return ph_mailbox_post(context, box,
                         &(ph_mailbox_buffer){.size = sizeof(ph_mailbox_buffer),
                                              .data = buffer,
                                              .size_bytes = sizeof *buffer,
                                              .threshold = messages});
}

/* Writes this rank's part into the buffer of that epoch; what rank 0 says of it. */
static ph_status write_part(ph_context* context, uint64_t epoch) {
  static unsigned char part[kPartBytes];
  const ph_rank writer = ph_rank_of(context) - 1;
  ph_request request;
  const ph_mailbox_put_args put = {.size = sizeof put,
                                   .address = kAddress,
                                   .offset = (uint64_t)writer * kPartBytes,
                                   .source = part,
                                   .size_bytes = sizeof part,
                                   .epoch = epoch,
                                   .request = &request};
  ph_result result;
  memset(part, (int)writer, sizeof part);
  ph_status status = ph_mailbox_put(context, 0, &put);
  if (status == PH_OK) status = ph_wait_request(context, &request, &result, PH_FOREVER);
  return status == PH_OK ? result.status : status;
}

/* Rank 0: 1 if both buffers hold what they should, 0 if they do not. */
static int receive(ph_context* context, ph_mailbox box, Buffer buffers[2]) {
  const ph_rank late = ph_size_of(context) - 2; /* the last writer */
  ph_mailbox_event event;
  if (ph_mailbox_wait(context, box, &event, PH_FOREVER) != PH_OK) return 0;
  if (ph_barrier(context) != PH_OK) return 0; /* now the late one writes */
  if (ph_mailbox_wait(context, box, &event, PH_FOREVER) != PH_OK) return 0;
  int is_right = event.epoch == 1 && event.from == late + 1;
  for (ph_rank writer = 0; writer < late; ++writer)
    is_right = is_right && is_filled(buffers[0].parts[writer], (int)writer);
  is_right = is_right && is_filled(buffers[0].parts[late], kEmpty) &&
             is_filled(buffers[1].parts[late], (int)late);
  printf(
      "late_writer: rank 0 took its buffer with the parts of %u writers; a late part %s; into "
      "the next buffer it came\n",
      late, is_right ? "was refused, and no byte changed" : "IS THERE");
  return is_right;
}

/* The others: 1 if rank 0 said what it should. */
static int send(ph_context* context) {
  const int is_late = ph_rank_of(context) + 1 == ph_size_of(context);
  if (!is_late && write_part(context, 0) != PH_OK) return 0;
  if (ph_barrier(context) != PH_OK) return 0;
  if (!is_late) return 1;
  const ph_status refused = write_part(context, 0);
  printf("late_writer: rank %u, late, hears: %s\n", ph_rank_of(context), ph_status_text(refused));
  return refused == PH_ERR_EPOCH && write_part(context, 1) == PH_OK;
}

int main(void) {
  static Buffer buffers[2];
  ph_context* context;
  ph_error error;
  ph_mailbox box = {0};
  if (ph_context_create(NULL, &context, &error) != PH_OK) {
    fprintf(stderr, "late_writer: %s\n", error.text);
    return 1;
  }
  int is_right = 0;
  const ph_rank ranks = ph_size_of(context);
  if (ranks < 3 || ranks > kMostWriters + 1) {
    fprintf(stderr, "late_writer: it takes 3 to %d ranks\n", kMostWriters + 1);
    goto over;
  }
  if (ph_rank_of(context) == 0) {
    const ph_mailbox_args args = {.size = sizeof args,
                                  .address = kAddress,
                                  .unit = PH_MAILBOX_OPERATIONS,
                                  .source = PH_ANY_RANK};
    if (ph_mailbox_open(context, &args, &box) != PH_OK ||
        post(context, box, &buffers[0], ranks - 2) != PH_OK ||
        post(context, box, &buffers[1], 1) != PH_OK)
      goto failed;
  }
  if (ph_barrier(context) != PH_OK) goto failed;
  is_right = ph_rank_of(context) == 0 ? receive(context, box, buffers) : send(context);
  if (ph_finalize(context) == PH_OK) goto over; /* the buffers are needed until here */

failed:
  is_right = 0;
  ph_last_error(context, &error);
  fprintf(stderr, "late_writer: rank %u: %s\n", ph_rank_of(context), error.text);
over:
  ph_context_destroy(context);
  return is_right ? 0 : 1;
}
