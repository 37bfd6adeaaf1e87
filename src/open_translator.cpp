#define ATTN_RUN_INLINE
#include "attn/run/marian_folder_bodies.hpp"
#include "attn/run/open_translator_bodies.hpp"
#include "attn/run/run_folder_bodies.hpp"
