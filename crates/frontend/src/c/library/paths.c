/* libgen.h and string.h: parts of the names of files. */
typedef unsigned long size_t;
static char here[] = ".";
char *basename(const char *path) {
  const char *last = path;
  for (; *path; path++)
    if (*path == '/')
      last = path + 1;
  return (char *)last;
}
/* Slashes at the end do not count. */
char *__xpg_basename(char *path) {
  size_t end = 0;
  if (!path || !*path)
    return here;
  while (path[end])
    end++;
  if (path[end - 1] == '/') {
    while (end > 0 && path[end - 1] == '/')
      end--;
    if (end == 0) {
      while (path[end + 1])
        end++;
      return path + end;
    }
    path[end] = 0;
  }
  while (end > 0 && path[end - 1] != '/')
    end--;
  return path + end;
}
char *dirname(char *path) {
  size_t end = 0, first = 0;
  if (!path)
    return here;
  while (path[end])
    end++;
  while (end > 0 && path[end - 1] == '/')
    end--;
  while (end > 0 && path[end - 1] != '/')
    end--;
  if (end == 0 && path[0] != '/')
    return here;
  while (end > 0 && path[end - 1] == '/')
    end--;
  /* Only slashes are left: one stays, or two if there are just two. */
  if (end == 0) {
    while (path[first] == '/')
      first++;
    end = first == 2 ? 2 : 1;
  }
  path[end] = 0;
  return path;
}
