/* A program of libphoton 1.1, in C11 and gnu99: it includes and links what it always did. */
#include <photon.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  struct photon_config_t config;
  struct photon_buffer_t from, to;
  const struct photon_buffer_priv_t* keys = NULL;
  static char memory[64];
  char text[] = "as it always did";
  photon_cid local, remote;
  int seen = 0;
  memset(&config, 0, sizeof config);
  memset(&local, 0, sizeof local);
  memset(&remote, 0, sizeof remote);
  local.u64 = 1;
  remote.u64 = 2;
  if (photon_init(&config) != PHOTON_OK) return 1;
  if (photon_register_buffer(memory, sizeof memory) != PHOTON_OK) return 1;
  if (photon_get_buffer_private(memory, sizeof memory, &keys) != PHOTON_OK) return 1;
  memset(&from, 0, sizeof from);
  from.addr = (uintptr_t)text;
  from.size = sizeof text;
  to.addr = (uintptr_t)memory;
  to.size = sizeof memory;
  to.priv = *keys;
  if (photon_put_with_completion(0, sizeof text, &from, &to, local, remote, PHOTON_REQ_NIL) !=
      PHOTON_OK)
    return 1;
  while (seen != 3) {
    int flag = 0;
    photon_cid id;
    if (photon_probe_completion(PHOTON_ANY_SOURCE, &flag, NULL, &id, NULL, NULL,
                                PHOTON_PROBE_ANY) != PHOTON_OK)
      return 1;
    if (flag) seen |= (int)id.u64;
  }
  puts(memory);
  printf("backend %s\n", PHOTON_BACKEND_TO_STRING[config.backend]);
  return strcmp(memory, text) != 0 || photon_finalize() != PHOTON_OK;
}
