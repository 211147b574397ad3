#include "storage/estimates.h"

#include <math.h>

#include "storage/jobs_internal.h"

enum { LOOKED_AT = 64, KEPT = 200, CLASS_MAX = 48 };

const double cm_short_seconds = 2;

/* What follows so many words. */
static const char *after_words(const char *likeness, int words)
{
  for (; words > 0; words--)
    likeness += strcspn(likeness, " ") + (likeness[strcspn(likeness, " ")] == ' ');
  return likeness;
}

/* Kind and preset. */
static void class_of(const char *likeness, char class[CLASS_MAX])
{
  const int length = (int)(after_words(likeness, 2) - likeness);
  (void)snprintf(class, CLASS_MAX, "%.*s", length > 0 && likeness[length - 1] == ' ' ? length - 1 : length, likeness);
}

/* Jobs of other objectives take up to a hundred times as long, and say nothing: kind, preset and objective, as far as there are such words. */
static void like_of(const char *likeness, char like[CLASS_MAX])
{
  (void)snprintf(like, CLASS_MAX, "%.*s", (int)(after_words(likeness, 3) - likeness), likeness);
}

/* How much a job's time says of another one's: a quarter for each word of their likenesses that differs. */
static double alikeness(const char *a, const char *b)
{
  double alike = 1;
  while (*a != '\0' || *b != '\0') {
    const size_t of_a = strcspn(a, " "), of_b = strcspn(b, " ");
    if (of_a != of_b || strncmp(a, b, of_a) != 0)
      alike *= 0.25;
    a += of_a + (a[of_a] == ' ');
    b += of_b + (b[of_b] == ' ');
  }
  return alike;
}

/* Weighted sums of a line ln(seconds) = level + slope * ln(size / this size). */
typedef struct line {
  double weight, x, y, xx, xy;
} line;

static void add(line *l, double weight, double x, double y)
{
  l->weight += weight;
  l->x += weight * x;
  l->y += weight * y;
  l->xx += weight * x * x;
  l->xy += weight * x * y;
}

/* The level of the line, whose slope is drawn towards 1 and stays within what an algorithm can have. */
static double level(const line *l)
{
  const double pull = 0.5;
  double xx = l->xx + pull, xy = l->xy + pull;
  double slope = (l->weight * xy - l->x * l->y) / (l->weight * xx - l->x * l->x);
  slope = fmin(fmax(slope, 0), 2);
  return (l->y - slope * l->x) / l->weight;
}

/* ln of how much longer jobs take here than first guesses say, as the last ones of other presets, like it in all else, show; 0 before there are any. */
static cm_status read_pace(sqlite3 *handle, const cm_job *job, const char *class, double *pace, cm_error *error)
{
  sqlite3_stmt *statement;
  char other[CM_LIKENESS_MAX];
  double sum = 0, weight = 1; /* that the guesses are right counts as one job */
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT likeness, size, seconds FROM job_times WHERE class <> ?"
                                    " ORDER BY id DESC LIMIT ?", "ti", class, (int64_t)LOOKED_AT);
  while (cm_sql_next(statement, &status, error)) {
    double size, took;
    (void)cm_sql_columns(statement, error, "tdd", CM_INTO(other), &size, &took);
    const size_t kind = strcspn(other, " ");
    if (strncmp(other, job->likeness, kind + 1) != 0 || strcmp(after_words(other, 2), after_words(job->likeness, 2)) != 0)
      continue;
    sum += log(fmax(took, 1e-3) / library_job_guess(other, fmax(size, 1)));
    weight++;
  }
  status = cm_sql_end(statement, status, error);
  CM_END(status, *pace = sum / weight, );
}

/* That a row's job begins with the words of like_of, which end with a blank where more follow. */
#define IS_LIKE "instr(likeness || ' ', ?) = 1"

/* What is estimated: `query` gives likeness, chip, size and figure of like jobs, the last ones first; those of another chip count so much; the
 * guess stands where they say little. */
typedef struct figure {
  const char *query;
  double other_chip, guess;
} figure;

static cm_status estimate(sqlite3 *handle, const cm_job *job, const figure *f, double *value, cm_error *error)
{
  sqlite3_stmt *statement;
  char class[CLASS_MAX], like[CLASS_MAX], text[CM_LIKENESS_MAX], chip[LIBRARY_CHIP_NAME_MAX];
  double size = fmax(job->size, 1);
  line l = {0};
  class_of(job->likeness, class);
  like_of(job->likeness, like);
  add(&l, 0.02, 0, log(f->guess));
  cm_status status = cm_sql_prepare(handle, &statement, error, f->query, "tti", class, like, (int64_t)LOOKED_AT);
  for (int age = 0; cm_sql_next(statement, &status, error); age++) {
    double other, value_of;
    (void)cm_sql_columns(statement, error, "ttdd", CM_INTO(text), CM_INTO(chip), &other, &value_of);
    double x = log(fmax(other, 1) / size), y = log(fmax(value_of, 1e-3));
    double weight = exp(-2 * fabs(x)) * alikeness(text, job->likeness) *
                    (strcmp(chip, job->chip) == 0 ? 1 : f->other_chip) * exp(-age / 32.0);
    add(&l, weight, x, y);
  }
  status = cm_sql_end(statement, status, error);
  CM_END(status, *value = exp(level(&l)), );
}

cm_status cm_estimate_in(sqlite3 *handle, const cm_job *job, double *seconds, cm_error *error)
{
  char class[CLASS_MAX];
  double pace;
  class_of(job->likeness, class);
  CM_TRY(read_pace(handle, job, class, &pace, error));
  const figure f = {"SELECT likeness, chip, size, seconds FROM job_times INDEXED BY job_times_class WHERE class = ? AND " IS_LIKE " ORDER BY id DESC LIMIT ?", 0.3,
                    library_job_guess(job->likeness, fmax(job->size, 1)) * exp(pace)};
  return estimate(handle, job, &f, seconds, error);
}

cm_status cm_estimate_bytes_in(sqlite3 *handle, const cm_job *job, double *bytes, cm_error *error)
{
  const double least = 1 << 20, each = 60; /* of random networks of up to 60 000 neurons and synapses; a chip's cores may hold far more */
  const figure f = {"SELECT likeness, chip, size, bytes FROM job_times INDEXED BY job_times_class WHERE class = ? AND " IS_LIKE " AND bytes > 0"
                    " ORDER BY id DESC LIMIT ?", 0.0002, least + each * job->size};
  return estimate(handle, job, &f, bytes, error);
}

cm_status cm_estimate(cm_store *store, const cm_job *job, double *seconds, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, cm_estimate_in(r.handle, job, seconds, error));
  return cm_reading_end(&r, status);
}

cm_status cm_estimate_known_in(sqlite3 *handle, const cm_job *job, unsigned *known, cm_error *error)
{
  char class[CLASS_MAX], like[CLASS_MAX];
  int64_t count;
  class_of(job->likeness, class);
  like_of(job->likeness, like);
  CM_TRY(cm_sql_number(handle, 0, &count, error, "SELECT count(*) FROM job_times INDEXED BY job_times_class WHERE class = ? AND " IS_LIKE, "tt", class, like));
  *known = (unsigned)count;
  return CM_OK;
}

cm_status cm_estimate_learn_in(sqlite3 *handle, const cm_job *job, double seconds, cm_error *error)
{
  char class[CLASS_MAX];
  if (job->likeness[0] == '\0')
    return CM_OK;
  class_of(job->likeness, class);
  CM_TRY(cm_sql_run(handle, NULL, error,
                    "INSERT INTO job_times(class, likeness, chip, size, seconds, bytes) VALUES(?, ?, ?, ?, ?, ?)", "tttddd",
                    class, job->likeness, job->chip, job->size, seconds, job->bytes));
  return cm_sql_run(handle, NULL, error,
                    "DELETE FROM job_times WHERE class = ?1 AND id <= (SELECT id FROM job_times INDEXED BY job_times_class"
                    " WHERE class = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)", "ti", class, (int64_t)KEPT);
}

double cm_estimate_left(double elapsed, double expected)
{
  return fmax(expected - fmax(elapsed, 0), fmax(elapsed, 0) / 4);
}

/* Beyond so many known jobs of a class their times count; and until a job has done so much, its own word is about nothing. */
enum { KNOWN_ENOUGH = 5 };
static const double word_from = 0.05;

void cm_estimate_outlook(cm_outlook *outlook, double elapsed, double expected, unsigned known, double whole)
{
  const double left = cm_estimate_left(elapsed, expected), done = fmin(fmax(whole, 0), 1);
  const double trust = known >= KNOWN_ENOUGH ? done : fmin(done / word_from, 1);
  elapsed = fmax(elapsed, 0);
  outlook->remaining = done > 0 ? trust * elapsed * (1 - done) / done + (1 - trust) * left : left;
  const double share = known < KNOWN_ENOUGH && whole >= 0 ? done : elapsed > 0 ? elapsed / (elapsed + outlook->remaining) : 0;
  outlook->fraction = fmax(outlook->fraction, share);
}
