/* Runs the threads of the program one at a time, in the order of a schedule.

   The sources of the program are compiled with -fsanitize=thread, which puts a call in front of each
   access to memory; the calls come here, and the library of the sanitizer is not linked. Threads are
   contexts of one thread of the system. The schedule is a list of gates: accesses to what several
   threads touch, calls of thread functions, and inputs. A thread that comes to a gate waits until
   all gates in front of it were passed; if the program does not come to the gates as they are
   listed, it departs from the schedule, and the run ends with exit code 73. */
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define MOST 64
#define STACK (1 << 20)
/* Functions of the program take the place of these. */
#define API __attribute__((weak))

typedef __SIZE_TYPE__ size;
/* The program may have functions of these names. */
extern long own_syscall(long, ...) __asm__("syscall");
extern int own_atexit(void (*)(void)) __asm__("atexit");
extern int *own_errno(void) __asm__("__errno_location");
extern _Bool fed_bool(void) __asm__("__VERIFIER_nondet_bool");
extern int fed_int(void) __asm__("__VERIFIER_nondet_int");

static void copy(void *to, const void *from, size count) {
  for (size i = 0; i < count; i++)
    ((char *)to)[i] = ((const char *)from)[i];
}
static int same(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}
static int has(const char *text, char c) {
  while (*text && *text != c)
    text++;
  return *text != 0;
}
static void *room(size count) {
  return mmap(0, count + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* ---- the schedule ---- */

#define GATES (sizeof gates / sizeof *gates)
static int running;
static unsigned passed;
static char is_done[GATES];
static unsigned last_gate[MOST];
static ucontext_t contexts[MOST];
static int threads;
static int has_ended[MOST];
static void *results[MOST];

static void departs(const char *what, const char *name, const char *rest, const char *at) {
  say("\nwherefore: departs: ");
  say(what), say(name), say(rest), say(at), say("\n");
  _exit(73);
}

/* Thread-local objects of the program: each thread has its own copy. */
static char *own_data, *own_copy[MOST];
static size own_size;

static void run_thread(int thread) {
  int before = running;
  if (thread == before)
    return;
  if (thread > threads || has_ended[thread])
    departs("the thread whose turn it is has ended or was not started", "", ", at ", gates[passed].at);
  if (own_size) {
    copy(own_copy[before], own_data, own_size);
    copy(own_data, own_copy[thread], own_size);
  }
  running = thread;
  swapcontext(&contexts[before], &contexts[thread]);
}

/* A thread that has passed its last gate, and does not fail, takes no further step. */
static void rest(void) {
  while (passed > last_gate[running] && running != FAILING)
    run_thread(gates[passed].thread);
}

/* Waits until it is the turn of the running thread. */
static const struct gate *turn(void) {
  rest();
  while (gates[passed].thread != running)
    run_thread(gates[passed].thread);
  return &gates[passed];
}

/* Reads may be left out by the compiled program, as that of `b` in `a && b`; so may writes of any
   value where an object begins. */
static int is_optional(const struct gate *gate) { return gate->kind == 'R' || gate->kind == 'I'; }

static void pass(unsigned gate) {
  is_done[gate] = 1;
  while (is_done[passed])
    passed++;
}

/* The turn of the running thread at a call or at the failure. */
static const struct gate *turn_of_step(void) {
  const struct gate *gate = turn();
  for (; is_optional(gate); gate = turn())
    pass(passed);
  return gate;
}

void wherefore_call(const char *name) {
  const struct gate *gate = turn_of_step();
  if (gate->kind != 'C' || !same(gate->name, name))
    departs("`", name, "` is called where the schedule has another step, at ", gate->at);
  pass(passed);
}

/* The failure: it counts only at the end of the schedule. */
static void failure(void) {
  if (running != FAILING || turn_of_step()->kind != 'E')
    departs("the program fails before the schedule is over", "", ", in front of ", gates[passed].at);
}

/* ---- accesses ---- */

struct symbol {
  const char *name;
  char *from, *to;
};
static struct symbol *symbols;
static unsigned symbol_count;
static char *known[sizeof places / sizeof *places];
#define PLACES (sizeof places / sizeof *places - 1)

static int is_of(const struct symbol *symbol, const char *name) {
  const char *other = symbol->name;
  while (*name && *other == *name)
    name++, other++;
  return !*name && (!*other || (*other == '.' && other[1] >= '0' && other[1] <= '9'));
}

/* Whether an address can be that of a place whose address is not known yet. */
static int can_be(unsigned place, char *address) {
  for (unsigned i = 0; i < PLACES; i++)
    if (known[i] == address)
      return 0;
  for (unsigned i = 0; i < symbol_count; i++)
    if (symbols[i].from <= address && address < symbols[i].to) {
      if (!places[place].symbol || !is_of(&symbols[i], places[place].symbol))
        return 0;
      return places[place].offset < 0 || symbols[i].from + places[place].offset == address;
    }
  return places[place].is_local;
}

static int is_between(unsigned place, char *address, size length) {
  return known[place] && known[place] < address + length && address < known[place] + places[place].size;
}

/* Whether a gate is part of an access. */
static int is_part(const struct gate *gate, char *address, size length, const char *kinds) {
  if (gate->thread != running || gate->kind == 'C' || gate->kind == 'E' || !has(kinds, gate->kind))
    return 0;
  int may_bind = gate->kind != 'I' && length == places[gate->place].size;
  if (!known[gate->place] && may_bind && can_be(gate->place, address))
    known[gate->place] = address;
  return is_between(gate->place, address, length);
}

/* An access: passes the gates that are part of it. C leaves open in which order the operands of an
   expression are read, so that reads between which no other thread has a gate may change places. */
static void access_at(char *address, size length, const char *kinds, int is_atomic) {
  rest();
  unsigned place = 0;
  while (place < PLACES && !is_between(place, address, length))
    place++;
  if (place == PLACES) {
    unsigned next = passed;
    while (next < GATES && (gates[next].thread != running || is_done[next] ||
                            (is_optional(&gates[next]) && !is_part(&gates[next], address, length, kinds))))
      next++;
    if (next == GATES || !is_part(&gates[next], address, length, kinds))
      return;
    place = gates[next].place;
  }
  int group = 0, count = 0;
  for (;;) {
    const struct gate *gate = count ? &gates[passed] : turn();
    unsigned at = passed;
    while (has(kinds, 'R') && gates[at].thread == running && gates[at].kind == 'R' &&
           (is_done[at] || !is_part(&gates[at], address, length, kinds)))
      at++;
    if (is_part(&gates[at], address, length, kinds) && !is_done[at] && (!count || !is_atomic || gates[at].group == group)) {
      group = gates[at].group;
      count++;
      pass(at);
      if (!is_atomic && length <= places[gates[at].place].size)
        return;
      continue;
    }
    if (count)
      return;
    if (!is_optional(gate))
      departs("`", places[place].shown, "` is accessed where the schedule has another step, at ", gate->at);
    pass(passed);
  }
}

#define ACCESS(size)                                                                                  \
  void __tsan_read##size(void *p) { access_at(p, size, "R", 0); }                                     \
  void __tsan_write##size(void *p) { access_at(p, size, "WI", 0); }                                    \
  void __tsan_unaligned_read##size(void *p) { access_at(p, size, "R", 0); }                           \
  void __tsan_unaligned_write##size(void *p) { access_at(p, size, "WI", 0); }                          \
  void __tsan_volatile_read##size(void *p) { access_at(p, size, "R", 0); }                            \
  void __tsan_volatile_write##size(void *p) { access_at(p, size, "WI", 0); }                           \
  void __tsan_unaligned_volatile_read##size(void *p) { access_at(p, size, "R", 0); }                  \
  void __tsan_unaligned_volatile_write##size(void *p) { access_at(p, size, "WI", 0); }                 \
  void __tsan_read_write##size(void *p) { access_at(p, size, "R", 0); access_at(p, size, "WI", 0); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *p) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **p, void *q) {}
void __tsan_vptr_read(void **p) {}
void __tsan_read_range(void *p, unsigned long length) { access_at(p, length, "R", 0); }
void __tsan_write_range(void *p, unsigned long length) { access_at(p, length, "WI", 0); }
void *__tsan_memcpy(void *to, const void *from, size length) {
  access_at((char *)from, length, "R", 0);
  access_at(to, length, "WI", 0);
  return __builtin_memcpy(to, from, length);
}
void *__tsan_memmove(void *to, const void *from, size length) {
  access_at((char *)from, length, "R", 0);
  access_at(to, length, "WI", 0);
  return __builtin_memmove(to, from, length);
}
void *__tsan_memset(void *to, int value, size length) {
  access_at(to, length, "WI", 0);
  return __builtin_memset(to, value, length);
}

#define UPDATE(bits, type, name, operator)                                                            \
  type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) {                            \
    access_at((char *)p, sizeof *p, "RW", 1);                                                         \
    type old = *p;                                                                                    \
    *p = operator;                                                                                    \
    return old;                                                                                       \
  }
#define ATOMIC(bits, type)                                                                            \
  type __tsan_atomic##bits##_load(const volatile type *p, int order) {                                \
    access_at((char *)p, sizeof *p, "R", 1);                                                          \
    return *p;                                                                                        \
  }                                                                                                   \
  void __tsan_atomic##bits##_store(volatile type *p, type v, int order) {                             \
    access_at((char *)p, sizeof *p, "WI", 1);                                                          \
    *p = v;                                                                                           \
  }                                                                                                   \
  UPDATE(bits, type, exchange, v)                                                                     \
  UPDATE(bits, type, fetch_add, old + v)                                                              \
  UPDATE(bits, type, fetch_sub, old - v)                                                              \
  UPDATE(bits, type, fetch_and, old &v)                                                               \
  UPDATE(bits, type, fetch_or, old | v)                                                               \
  UPDATE(bits, type, fetch_xor, old ^ v)                                                              \
  UPDATE(bits, type, fetch_nand, ~(old & v))                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *expected, type v, int order, int other) { \
    access_at((char *)p, sizeof *p, "RW", 1);                                                         \
    if (*p == *expected) {                                                                            \
      *p = v;                                                                                         \
      return 1;                                                                                       \
    }                                                                                                 \
    *expected = *p;                                                                                   \
    return 0;                                                                                         \
  }                                                                                                   \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *expected, type v, int order, int other) { \
    return __tsan_atomic##bits##_compare_exchange_strong(p, expected, v, order, other);               \
  }                                                                                                   \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v, int order, int other) { \
    __tsan_atomic##bits##_compare_exchange_strong(p, &expected, v, order, other);                     \
    return expected;                                                                                  \
  }
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned)
ATOMIC(64, unsigned long long)
void __tsan_atomic_thread_fence(int order) {}
void __tsan_atomic_signal_fence(int order) {}

/* ---- what is where ---- */

static int find_own(struct dl_phdr_info *info, size length, void *base) {
  *(char **)base = (char *)info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
      own_data = info->dlpi_tls_data;
      own_size = info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

/* The end of `main` is put off: other threads could have run before it. */
static void at_exit(void) {
  has_ended[running] = 1;
  if (gates[passed].thread != running)
    run_thread(gates[passed].thread);
  departs("the program ends before the schedule is over", "", ", in front of ", gates[passed].at);
}

static const char *base_name(const char *path) {
  const char *name = path;
  for (; *path; path++)
    if (*path == '/')
      name = path + 1;
  return name;
}

static void read_symbols(char *base) {
  long file = own_syscall(SYS_openat, -100, "/proc/self/exe", 0);
  long length = file < 0 ? 0 : own_syscall(SYS_lseek, file, 0L, 2);
  if (length <= 0)
    departs("the table of symbols", " cannot be read", "", "");
  char *image = mmap(0, length, PROT_READ, MAP_PRIVATE, file, 0);
  ElfW(Ehdr) *head = (void *)image;
  ElfW(Shdr) *sections = (void *)(image + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB)
      continue;
    ElfW(Sym) *list = (void *)(image + sections[i].sh_offset);
    const char *names = image + sections[sections[i].sh_link].sh_offset;
    size count = sections[i].sh_size / sizeof *list;
    int is_own = 0;
    symbols = room(count * sizeof *symbols);
    for (size j = 0; j < count; j++) {
      int type = list[j].st_info & 15, is_local = list[j].st_info >> 4 == STB_LOCAL;
      const char *name = names + list[j].st_name;
      if (type == STT_FILE)
        is_own = same(base_name(name), base_name(__FILE__));
      char *from = base + list[j].st_value;
      if (type == STT_OBJECT && list[j].st_size && !(is_local && is_own))
        symbols[symbol_count++] = (struct symbol){name, from, from + list[j].st_size};
    }
  }
}

__attribute__((constructor(101))) static void prepare(void) {
  for (unsigned i = 0; i < GATES; i++)
    last_gate[gates[i].thread] = i;
  char *base = 0;
  dl_iterate_phdr(find_own, &base);
  for (int i = 0; own_size && i < MOST; i++)
    copy(own_copy[i] = room(own_size), own_data, own_size);
  read_symbols(base);
  for (unsigned i = 0; i < PLACES; i++) {
    if (!places[i].symbol || places[i].offset < 0 || places[i].is_local)
      continue;
    unsigned found = 0;
    for (unsigned j = 0; j < symbol_count; j++)
      if (is_of(&symbols[j], places[i].symbol)) {
        known[i] = symbols[j].from + places[i].offset;
        found++;
      }
    if (found != 1)
      known[i] = 0;
  }
  own_atexit(at_exit);
}
