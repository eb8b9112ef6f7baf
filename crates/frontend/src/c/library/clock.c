/* time.h: dates. What the calendar says of a time is up to the real library, within its ranges. */
typedef unsigned long size_t;
int __builtin_own_any_int(void);
long __builtin_own_any_long(void);
void __VERIFIER_assume(int condition);
void __builtin_own_needed(const void *pointer);
struct __builtin_own_date {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  const char *tm_zone;
};
static struct __builtin_own_date the_date;
static int between(int least, int most) {
  int number = __builtin_own_any_int();
  __VERIFIER_assume(number >= least && number <= most);
  return number;
}
static char zone[4];
/* Times are taken to be within 67 million years: there is a date. */
static void set_date(struct __builtin_own_date *to) {
  to->tm_sec = between(0, 60);
  to->tm_min = between(0, 59);
  to->tm_hour = between(0, 23);
  to->tm_mday = between(1, 31);
  to->tm_mon = between(0, 11);
  to->tm_year = __builtin_own_any_int();
  to->tm_wday = between(0, 6);
  to->tm_yday = between(0, 365);
  to->tm_isdst = between(-1, 1);
  to->tm_gmtoff = between(-93600, 93600);
  for (int i = 0; i < 3; i++)
    zone[i] = (char)__builtin_own_any_int();
  to->tm_zone = zone;
}
void *gmtime(const long *time) {
  __builtin_own_needed(time);
  set_date(&the_date);
  return &the_date;
}
void *localtime(const long *time) { return gmtime(time); }
void *gmtime_r(const long *time, void *to) {
  __builtin_own_needed(time);
  set_date(to);
  return to;
}
void *localtime_r(const long *time, void *to) { return gmtime_r(time, to); }
long mktime(void *date) {
  set_date(date);
  return __builtin_own_any_long();
}
long timegm(void *date) { return mktime(date); }
double difftime(long later, long sooner) { return (double)later - (double)sooner; }
