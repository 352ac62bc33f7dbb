/* Ranks that find each other without a launcher: each leaves its address in a folder. Start them in
 * any order, by hand, as long as the folder is one that all can see:
 *   addresses 0 2 /tmp/meeting & addresses 1 2 /tmp/meeting
 * Rank 0 takes a greeting from everybody else. It needs nobody's address: who greets says who it
 * is. */
#include <photon/photon.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(ph_context* context, const char* what) {
  ph_error error;
  ph_last_error(context, &error);
  fprintf(stderr, "addresses: rank %u: %s: %s\n", ph_rank_of(context), what, error.text);
  ph_context_destroy(context);
  return 1;
}

/* Whole or not there: written beside, then named. */
static int leave(const char* name, const void* bytes, size_t size_bytes) {
  char beside[4096];
  const int length = snprintf(beside, sizeof beside, "%s.new", name);
  if (length < 0 || (size_t)length >= sizeof beside) return 0;
  FILE* file = fopen(beside, "wb");
  if (file == NULL) return 0;
  const int is_written = fwrite(bytes, 1, size_bytes, file) == size_bytes;
  return (fclose(file) == 0) & is_written && rename(beside, name) == 0;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: addresses RANK RANKS FOLDER\n");
    return 2;
  }
  /* A real program has a secret that nobody else knows. */
  const char secret[] = "of the example, known to everybody";
  const ph_job job = {.size = sizeof job,
                      .rank = (ph_rank)atoi(argv[1]),
                      .ranks_count = (uint32_t)atoi(argv[2]),
                      .secret = secret,
                      .secret_bytes = sizeof secret};
  ph_context* context;
  ph_error error;
  if (ph_context_join(&job, NULL, &context, &error) != PH_OK) {
    fprintf(stderr, "addresses: %s\n", error.text);
    return 1;
  }
  char address[PH_MAX_ADDRESS_BYTES], name[4096];
  size_t size_bytes;
  snprintf(name, sizeof name, "%s/rank-0", argv[3]);

  if (job.rank == 0) {
    if (ph_address(context, address, sizeof address, &size_bytes) != PH_OK)
      return failed(context, "address");
    if (!leave(name, address, size_bytes)) {
      perror(name);
      ph_context_destroy(context);
      return 1;
    }
    const ph_query greetings = {PH_ANY_RANK, PH_REMOTE, NULL};
    for (uint32_t i = 1; i < job.ranks_count;) {
      ph_completion news;
      size_t count;
      if (ph_wait(context, greetings, PH_FOREVER) != PH_OK ||
          ph_probe(context, greetings, &news, 1, &count) != PH_OK)
        return failed(context, "wait");
      if (count == 1) printf("rank 0: greeting %u of rank %u\n", (unsigned)news.id, news.peer);
      i += (uint32_t)count;
    }
  } else {
    FILE* file;
    while ((file = fopen(name, "rb")) == NULL) poll(NULL, 0, 10); /* rank 0 is not there yet */
    size_bytes = fread(address, 1, sizeof address, file);
    fclose(file);
    if (ph_connect(context, address, size_bytes, NULL) != PH_OK) return failed(context, "connect");
    if (ph_notify(context, 0, 100 + job.rank) != PH_OK) return failed(context, "notify");
  }
  const ph_status left = ph_finalize(context); /* delivers the greeting */
  ph_context_destroy(context);
  return left == PH_OK ? 0 : 1;
}
