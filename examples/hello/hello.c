/* Each rank writes a greeting into its right neighbour's memory. photonrun -n 4 hello */
#include <photon/photon.h>
#include <stdio.h>

int main(void) {
  const ph_config config = {.size = sizeof config};
  ph_context* context;
  ph_error error;
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    fprintf(stderr, "hello: %s\n", error.text);
    return 1;
  }
  const ph_rank rank = ph_rank_of(context), next = (rank + 1) % ph_size_of(context);

  /* Memory that peers may write, and everybody's description of theirs. */
  ph_region mine, all[ph_size_of(context)];
  if (ph_alloc(context, 64, &mine) != PH_OK ||
      ph_allgather(context, &mine, all, sizeof mine) != PH_OK)
    goto failed;

  /* Write, and tell both sides: id 1 here, when the text may be reused; id 2 there. */
  char text[64];
  snprintf(text, sizeof text, "hello from rank %u", rank);
  if (ph_put_u64(context, next, (ph_const_block){text, sizeof text}, ph_at(&all[next], 0),
                 (ph_u64_ids){.local = 1, .remote = 2}) != PH_OK)
    goto failed;

  /* Sleep until an id arrives, and take it: the bytes are there. */
  const ph_query arrivals = {PH_ANY_RANK, PH_REMOTE, NULL};
  ph_completion news;
  size_t count = 0;
  while (count == 0)
    if (ph_wait(context, arrivals, PH_FOREVER) != PH_OK ||
        ph_probe(context, arrivals, &news, 1, &count) != PH_OK)
      goto failed;
  printf("rank %u: \"%s\" (id %u)\n", rank, (const char*)mine.address, (unsigned)news.id);

  ph_finalize(context); /* delivers what was sent; needs no barrier */
  ph_context_destroy(context);
  return 0;

failed:
  ph_last_error(context, &error);
  fprintf(stderr, "hello: rank %u: %s\n", rank, error.text);
  ph_context_destroy(context);
  return 1;
}
