/* What careless.c does, for who starts it (careless_alone.c, careless_mpi.c). */
#pragma once

/* `meta_exch`: of photon_config_t. Returns an exit status, and leaves the session open. */
int careless(int argc, char** argv, int meta_exch);
