#include "core/routing/words.h"

enum { BUCKETS_FIRST = 1024 };

cm_status cm_words_new(cm_memory *memory, cm_words **words, cm_error *error)
{
  cm_words *w;
  CM_TRY(CM_NEW(memory, w, 1, error));
  w->memory = memory;
  w->buckets = BUCKETS_FIRST;
  CM_END(CM_NEW(memory, w->bucket, w->buckets, error), *words = w, cm_free(w));
}

void cm_words_free(cm_words *words)
{
  if (words == NULL)
    return;
  CM_FREE(words->word, words->link, words->bucket, words);
}

static uint32_t bucket_of(const cm_words *w, uint64_t cores, const uint32_t *link, uint32_t count)
{
  uint64_t hash = cores * UINT64_C(0x9e3779b97f4a7c15) + count;
  for (uint32_t i = 0; i < count; i++)
    hash = (hash ^ hash >> 29 ^ link[i]) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(hash >> 32) & (w->buckets - 1);
}

static cm_status widen(cm_words *w, cm_error *error)
{
  uint32_t *bucket;
  if (w->count < w->buckets || w->buckets > UINT32_MAX / 4)
    return CM_OK;
  CM_TRY(CM_NEW(w->memory, bucket, (size_t)w->buckets * 2, error));
  cm_free(w->bucket);
  w->bucket = bucket;
  w->buckets *= 2;
  for (uint32_t i = 0; i < w->count; i++) {
    cm_word *word = &w->word[i];
    uint32_t b = bucket_of(w, word->cores, w->link + word->first, word->count);
    word->next = bucket[b];
    bucket[b] = i + 1;
  }
  return CM_OK;
}

cm_status cm_words_number(cm_words *w, uint64_t cores, const uint32_t *link, uint32_t count, uint64_t *number, cm_error *error)
{
  uint32_t b = bucket_of(w, cores, link, count);
  for (uint32_t i = w->bucket[b]; i != 0; i = w->word[i - 1].next) {
    const cm_word *word = &w->word[i - 1];
    if (word->cores == cores && word->count == count && memcmp(w->link + word->first, link, count * sizeof *link) == 0) {
      *number = i - 1;
      return CM_OK;
    }
  }
  if (w->links + count >= UINT32_MAX || w->count >= UINT32_MAX - 1)
    return cm_fail(error, CM_TOO_LARGE, "the routing tables have too many different ways out of routers");
  CM_TRY(widen(w, error));
  CM_TRY(CM_ROOM(w->memory, w->word, &w->room, w->count + 1, error));
  CM_TRY(CM_ROOM(w->memory, w->link, &w->link_room, w->links + count + 1, error));
  b = bucket_of(w, cores, link, count);
  memcpy(w->link + w->links, link, count * sizeof *link);
  w->word[w->count] = (cm_word){.cores = cores, .first = (uint32_t)w->links, .count = count, .next = w->bucket[b]};
  w->links += count;
  *number = w->count++;
  w->bucket[b] = (uint32_t)w->count;
  return CM_OK;
}
