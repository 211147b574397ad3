#include "daemon/manual.h"

#include "daemon/admin.h"
#include "daemon/config.h"
#include "daemon/limits.h"
#include "daemon/usage.h"

/* The last words in parentheses of a help text are the default. */
static int without_default(const char *help, const char **value, int *length)
{
  const char *open = strrchr(help, '(');
  *length = 0;
  if (open == NULL || help[strlen(help) - 1] != ')')
    return (int)strlen(help);
  *value = open + 1;
  *length = (int)strlen(open) - 2;
  return (int)(open - help) - 1;
}

void cm_manual_config(FILE *out)
{
  cm_setting_text s;
  (void)fputs("# Settings of coremapd(8): name = value. Those with a # before them stand here with their defaults, where these are\n"
              "# values. Flags of the command line (--name value) count more. A list has spaces or commas between its items, or is\n"
              "# said in several lines. `systemctl reload coremapd` takes over what can change while the server runs.\n"
              "[coremapd]\n", out);
  for (size_t i = 0; cm_config_setting(i, &s); i++) {
    const char *value = "";
    int length, text = without_default(s.help, &value, &length);
    bool literal = memchr(value, ' ', (size_t)length) == NULL && strncmp(value, "none", 4) != 0 && value[0] != '~';
    (void)fprintf(out, "\n# %s: %.*s%s%s\n", s.argument, text, s.help, s.list ? "; a list" : "", s.live ? "; reload" : "");
    if (length > 0 && !literal)
      (void)fprintf(out, "# Unless said: %.*s\n", length, value);
    if (strcmp(s.name, "data") == 0)
      (void)fputs("data = /var/lib/coremapd\n", out);
    else if (strcmp(s.name, "log-format") == 0)
      (void)fputs("log-format = json\n", out); /* the journal keeps it */
    else
      (void)fprintf(out, "#%s = %.*s\n", s.name, literal ? length : 0, value);
  }
}

static void put_roff(FILE *out, const char *text)
{
  bool begins = true;
  for (const char *c = text; *c != '\0'; c++) {
    if (begins && (*c == '.' || *c == '\''))
      (void)fputs("\\&", out);
    if (*c == '\\')
      (void)fputs("\\e", out);
    else if (*c == '-')
      (void)fputs("\\-", out);
    else
      (void)fputc(*c, out);
    begins = *c == '\n';
  }
}

static void put_settings(FILE *out, const char *dashes)
{
  cm_setting_text s;
  for (size_t i = 0; cm_config_setting(i, &s); i++) {
    (void)fputs(".TP\n\\fB", out);
    put_roff(out, dashes);
    put_roff(out, s.name);
    (void)fputs("\\fR \\fI", out);
    put_roff(out, s.argument);
    (void)fputs("\\fR\n", out);
    put_roff(out, s.help);
    (void)fputs(s.list ? "; may be said more than once, or be a list" : "", out);
    (void)fputs(s.live ? "; changes on SIGHUP\n" : "\n", out);
  }
}

void cm_manual_daemon(FILE *out)
{
  (void)fputs(".TH COREMAPD 8 \"\" \"coremapd " CM_VERSION "\" coremapd\n.nh\n.ad l\n"
              ".SH NAME\ncoremapd \\- compile server that maps neural networks onto many\\-core chips\n"
              ".SH SYNOPSIS\n\\fBcoremapd\\fR [\\fB\\-\\-config\\fR \\fIFILE\\fR] [\\fB\\-\\-NAME VALUE\\fR...]\n.br\n"
              "\\fBcoremapd \\-\\-check\\-data\\fR [\\fB\\-\\-data\\fR \\fIFOLDER\\fR]\n"
              ".SH DESCRIPTION\nTakes networks over HTTP, maps them on the free cores of chips, and serves the results and a viewer. It prints\n"
              "\\(lqlistening on ...\\(rq for each place where it listens, and runs until SIGTERM or SIGINT. As long as it has no users,\n"
              "whoever reaches its loopback address may do all; beyond loopback it listens only with users, and with TLS or a trusted proxy.\n"
              ".SH OPTIONS\nEach is also a setting of \\fBcoremapd.conf\\fR(5).\n", out);
  put_settings(out, "--");
  (void)fputs(".SH COMMANDS\nThey change the data folder beside a server that runs. Root, who names neither \\-\\-config nor \\-\\-data, changes that of\n"
              "the machine's server, as its user.\n.PP\n.nf\n", out);
  put_roff(out, cm_admin_usage);
  (void)fputs("\n", out);
  put_roff(out, cm_limit_command_usage);
  (void)fputs("\n", out);
  put_roff(out, cm_usage_command_usage);
  (void)fputs(".fi\n.TP\n\\fBcoremapd drain\\fR [\\fB\\-\\-wait\\fR \\fISECONDS\\fR|\\fB\\-\\-undo\\fR]\nThe server takes nothing new, lets running jobs end, and\n"
              "stops.\n.TP\n\\fBcoremapd health unix:/\\fR\\fIPATH\\fR\nWhether the server that listens there is ready: status 0, or 1 and why not.\n"
              ".TP\n\\fBcoremapd backup\\fR \\fIDIR\\fR, \\fBcoremapd restore\\fR \\fIDIR\\fR\nThe data folder to DIR, also while it is served, and back.\n"
              ".SH SIGNALS\n.TP\nSIGTERM, SIGINT\nNothing new is taken; running jobs get the setting grace to end, then go back to the queue. A second one ends at once.\n"
              ".TP\nSIGHUP\nThe log is opened anew, settings and certificates are read again.\n"
              ".SH SYSTEMD\nThe service coremapd.service is started by coremapd.socket, tells when it is ready, and feeds the watchdog as long as the\n"
              "writer of the database and the workers get on.\n"
              ".SH FILES\n.TP\n\\fI" CM_CONFIG_FILE "\\fR\nSettings of the machine's server.\n.TP\n\\fI/var/lib/coremapd\\fR\nIts data folder.\n"
              ".SH \"EXIT STATUS\"\n0 ended in order, 1 failed, 2 wrong settings.\n"
              ".SH \"SEE ALSO\"\n.BR coremapd.conf (5),\n.BR coremap (1)\n", out);
}

void cm_manual_settings(FILE *out)
{
  (void)fputs(".TH COREMAPD.CONF 5 \"\" \"coremapd " CM_VERSION "\" coremapd\n.nh\n.ad l\n"
              ".SH NAME\ncoremapd.conf \\- settings of the compile server coremapd\n"
              ".SH DESCRIPTION\nLines \\(lqname = value\\(rq, in the section [coremapd] or in none; \\(lq#\\(rq and \\(lq;\\(rq begin comments. Flags of the command\n"
              "line count more. Unknown names and wrong values are refused with the line.\n.SH SETTINGS\n", out);
  put_settings(out, "");
  (void)fputs(".SH FILES\n.TP\n\\fI" CM_CONFIG_FILE "\\fR\nOf the machine's server.\n.SH \"SEE ALSO\"\n.BR coremapd (8)\n", out);
}
