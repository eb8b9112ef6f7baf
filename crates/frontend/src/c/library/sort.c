/* stdlib.h: sorting and searching with a comparison of the program. In which order elements come
   that compare equal is up to the library. */
typedef unsigned long size_t;
_Bool __builtin_own_any(void);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  for (size_t i = 1; i < count; i++)
    for (size_t j = i; j > 0; j--) {
      char *right = (char *)base + j * size, *left = right - size;
      int order = compare(left, right);
      if (order < 0 || (order == 0 && __builtin_own_any()))
        break;
      for (size_t k = 0; k < size; k++) {
        char byte = left[k];
        left[k] = right[k];
        right[k] = byte;
      }
    }
}
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    char *at = (char *)base + middle * size;
    int order = compare(key, at);
    if (order == 0)
      return at;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return 0;
}
