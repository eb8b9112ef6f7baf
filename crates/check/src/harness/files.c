/* Files that the program may write itself are real ones, in the folder of the replay: what is read
   from them is what it has written. What is read from others is fed. Names of files lead to files
   in the folder, whatever folders they name. */
#define HAS_FILES
#define SIZE __SIZE_TYPE__
#define REAL __attribute__((weak))
extern void *_IO_fdopen(int, const char *) REAL, *fopen64(const char *, const char *) REAL;
extern void *freopen64(const char *, const char *, void *) REAL;
extern SIZE _IO_fread(void *, SIZE, SIZE, void *) REAL;
extern int _IO_feof(void *) REAL, _IO_ferror(void *) REAL, _IO_ungetc(int, void *) REAL;
extern int fseeko64(void *, long long, int) REAL;
extern void clearerr_unlocked(void *) REAL;
extern int __isoc99_vfscanf(void *, const char *, __builtin_va_list) REAL;
extern long __read(int, void *, SIZE) REAL;
extern int *__errno_location(void) REAL;
extern void *malloc(SIZE), *realloc(void *, SIZE);
extern void free(void *);
extern int fclose();
extern void *stdin REAL;
void __builtin_own_ended(void *stream, int how);

/* What the program does cannot be followed: nothing is learnt. */
PLAIN static void give_up(void) { _exit(NOT_ASSUMED); }

/* Streams whose content is fed. */
static void *fed[256];
static unsigned feds;
PLAIN static int is_own(void *stream) {
  if (!stream) return 0;
  if (&stdin && stream == stdin) return INPUT_IS_OWN;
  for (unsigned i = 0; i < feds; i++)
    if (fed[i] == stream) return 0;
  return 1;
}
PLAIN static void *now_fed(void *stream) {
  if (feds == 256) give_up();
  if (stream) fed[feds++] = stream;
  return stream;
}
PLAIN static void not_fed(void *stream) {
  for (unsigned i = 0; i < feds; i++)
    if (fed[i] == stream) fed[i] = 0;
}
PLAIN static int own_byte(void *stream) {
  unsigned char byte;
  if (!_IO_fread) give_up();
  return _IO_fread(&byte, 1, 1, stream) == 1 ? byte : -1;
}
PLAIN static int own_scan(void *stream, const char *format, __builtin_va_list list) {
  if (!__isoc99_vfscanf) give_up();
  return __isoc99_vfscanf(stream, format, list);
}
/* What models do with a stream whose content is not fed must leave no trace. */
PLAIN static int before(void) { return __errno_location ? *__errno_location() : 0; }
PLAIN static void again(int number) { if (__errno_location) *__errno_location() = number; }

/* The name of a file in the folder: a path without `.` and `..`, and `+` for each `/`. */
PLAIN static char *flat(const char *path) {
  SIZE length = 0, end = 0;
  while (path[length]) length++;
  char *name = malloc(length + 12);
  for (const char *prefix = "own-file+"; *prefix; prefix++) name[end++] = *prefix;
  SIZE root = end;
  if (*path == '/') name[end++] = '+', root = end;
  while (*path) {
    SIZE part = 0;
    while (path[part] && path[part] != '/') part++;
    if (part == 2 && path[0] == '.' && path[1] == '.') {
      if (end == root) give_up();
      end--;
      while (end > root && name[end - 1] != '+') end--;
    } else if (part > 0 && !(part == 1 && path[0] == '.')) {
      for (SIZE i = 0; i < part; i++) {
        if (path[i] == '+') give_up();
        name[end++] = path[i];
      }
      name[end++] = '+';
    }
    path += part;
    while (*path == '/') path++;
  }
  name[end] = 0;
  return name;
}
/* A stream of a file, or NULL if it is one that the program has not written. */
PLAIN static void *opened(const char *path, const char *mode, void *old) {
  int reads = mode[0] == 'r', writes = !reads;
  for (const char *at = mode; *at; at++) writes |= *at == '+';
  if (!fopen64 || !freopen64) give_up();
  char *name = flat(path);
  void *probe = reads ? fopen64(name, "r") : 0, *stream = 0;
  if (probe) fclose(probe);
  if (probe || !reads)
    stream = old ? freopen64(name, mode, old) : fopen64(name, mode);
  if (!stream && writes) give_up();
  free(name);
  return stream;
}
#ifdef WRAPS_fopen
extern void *fed_fopen(const char *, const char *);
void *fopen(const char *name, const char *mode) {
  void *given = fed_fopen(name, mode);
  if (!given) return 0;
  void *own = opened(name, mode, 0);
  return own ? own : now_fed(given);
}
#endif
#ifdef WRAPS_freopen
extern void *fed_freopen(const char *, const char *, void *);
void *freopen(const char *name, const char *mode, void *stream) {
  if (!fed_freopen(name, mode, stream)) return 0;
  if (!name) give_up();
  void *own = opened(name, mode, stream);
  if (own) not_fed(own);
  else if (is_own(stream)) now_fed(stream);
  return stream;
}
#endif
#ifdef WRAPS_tmpfile
extern void *fed_tmpfile(void);
void *tmpfile(void) {
  static char name[] = "tmp-00";
  if (!fed_tmpfile()) return 0;
  if (++name[5] > '9') name[5] = '0', name[4]++;
  if (!fopen64 || name[4] > '9') give_up();
  return fopen64(name, "w+");
}
#endif
#ifdef WRAPS_fdopen
extern void *fed_fdopen(int, const char *);
void *fdopen(int file, const char *mode) {
  void *given = fed_fdopen(file, mode);
  if (!given || (file == 0 && !INPUT_IS_OWN)) return now_fed(given);
  void *own = _IO_fdopen ? _IO_fdopen(file, mode) : 0;
  if (!own) give_up();
  return own;
}
#endif
#ifdef WRAPS_popen
/* What a command does with files is not known. */
void *popen(const char *command, const char *mode) { give_up(); return 0; }
#endif
#ifdef WRAPS_ungetc
extern int fed_ungetc(int, void *), fed_builtin_own_getc(void *);
int ungetc(int c, void *stream) {
  if (!is_own(stream)) return fed_ungetc(c, stream);
  return _IO_ungetc ? _IO_ungetc(c, stream) : (give_up(), 0);
}
int __builtin_own_getc(void *stream) {
  if (!is_own(stream)) return fed_builtin_own_getc(stream);
  int number = before();
  fed_builtin_own_getc((void *)&feds);
  again(number);
  return own_byte(stream);
}
#endif
#ifdef WRAPS_fgets
extern char *fed_fgets(char *, int, void *);
char *fgets(char *to, int size, void *stream) {
  if (!is_own(stream)) return fed_fgets(to, size, stream);
  int number = before(), count = 0, next = 0;
  char *apart = malloc(size > 0 ? size : 1);
  fed_fgets(apart, size, stream);
  free(apart);
  again(number);
  if (size <= 0) return 0;
  while (count < size - 1 && next != '\n' && (next = own_byte(stream)) >= 0)
    to[count++] = (char)next;
  if (count == 0 && size > 1) return 0;
  to[count] = 0;
  return to;
}
#endif
#ifdef WRAPS_gets
extern char *fed_gets(char *);
char *gets(char *to) {
  if (INPUT_IS_OWN) give_up();
  return fed_gets(to);
}
#endif
#ifdef WRAPS_fgets_unlocked
extern char *fed_fgets_unlocked(char *, int, void *);
char *fgets_unlocked(char *to, int size, void *stream) {
  if (is_own(stream)) give_up();
  return fed_fgets_unlocked(to, size, stream);
}
#endif
#if defined WRAPS_getdelim || defined WRAPS_getline
extern long fed_getdelim(char **, SIZE *, int, void *);
PLAIN static long own_line(char **line, SIZE *size, int end, void *stream) {
  if (!is_own(stream)) return fed_getdelim(line, size, end, stream);
  char *apart = 0;
  SIZE room = 0;
  long count = 0;
  int number = before(), next = 0;
  fed_getdelim(&apart, &room, end, stream);
  free(apart);
  again(number);
  do {
    next = own_byte(stream);
    if (next < 0) break;
    if (!*line || *size < (SIZE)count + 2) {
      *size = (*line && *size > 60 ? *size : 60) * 2;
      *line = realloc(*line, *size);
    }
    (*line)[count++] = (char)next;
  } while ((char)next != (char)end);
  if (count == 0) return -1;
  (*line)[count] = 0;
  return count;
}
#endif
#ifdef WRAPS_getdelim
long getdelim(char **line, SIZE *size, int end, void *stream) {
  return own_line(line, size, end, stream);
}
#endif
#ifdef WRAPS_getline
long getline(char **line, SIZE *size, void *stream) { return own_line(line, size, '\n', stream); }
#endif
#ifdef WRAPS_fread
extern SIZE fed_fread(void *, SIZE, SIZE, void *);
SIZE fread(void *to, SIZE size, SIZE count, void *stream) {
  if (!is_own(stream)) return fed_fread(to, size, count, stream);
  int number = before(), next = 0;
  SIZE at = 0, all = size * count;
  char *apart = malloc(all ? all : 1);
  if (!apart || (size && all / size != count)) give_up();
  fed_fread(apart, size, count, stream);
  free(apart);
  again(number);
  while (at < all && (next = own_byte(stream)) >= 0)
    ((unsigned char *)to)[at++] = (unsigned char)next;
  return size ? at / size : 0;
}
#endif
#ifdef WRAPS_read
extern long fed_read(int, void *, SIZE);
long read(int file, void *to, SIZE size) {
  if (file == 0 && !INPUT_IS_OWN) return fed_read(file, to, size);
  int number = before();
  char *apart = malloc(size ? size : 1);
  if (!apart || !__read) give_up();
  fed_read(file, apart, size);
  again(number);
  long count = __read(file, apart, size);
  for (long i = 0; i < count; i++) ((char *)to)[i] = apart[i];
  free(apart);
  return count;
}
#endif

