/* search.h: tables that are searched from their start. */
typedef unsigned long size_t;
void *lfind(const void *key, const void *base, size_t *count, size_t size,
            int (*compare)(const void *, const void *)) {
  for (size_t i = 0; i < *count; i++)
    if (compare(key, (const char *)base + i * size) == 0)
      return (char *)base + i * size;
  return 0;
}
void *lsearch(const void *key, void *base, size_t *count, size_t size,
              int (*compare)(const void *, const void *)) {
  void *found = lfind(key, base, count, size, compare);
  if (found)
    return found;
  char *to = (char *)base + *count * size;
  for (size_t i = 0; i < size; i++)
    to[i] = ((const char *)key)[i];
  *count += 1;
  return to;
}
