/* coremap: on files what the server does over HTTP, and jobs of a server (SPEC section 12). */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *what;
  bool reads; /* networks: takes the options for reading them */
} commands[] = {
  {"map", cli_map, "map a network on a chip", true},
  {"partition", cli_partition, "cut a network into parts, without placing them", true},
  {"place", cli_place, "place parts that are made already", true},
  {"compile", cli_compile, "turn an ONNX model into a program for a chip, or rewrite it so that its permutations move less", false},
  {"run", cli_run_program, "simulate a program: its time and what it computes", false},
  {"disassemble", cli_disassemble, "print a program's instructions", false},
  {"tile", cli_tile, "the pieces of a program for an ONNX model, as a network", false},
  {"schedule", cli_schedule, "schedule tasks on processors or resources", false},
  {"simulate", cli_simulate, "simulate the packets of a mapping: step time, latencies, saturation", true},
  {"check", cli_check, "verify a mapping independently of what made it", true},
  {"show", cli_show, "describe a network, chip or mapping", true},
  {"convert", cli_convert, "turn a network into another format", true},
  {"generate", cli_generate, "make a network of a published recipe", false},
  {"train", cli_train, "train the policy of mapper `learned`", true},
  {"login", cli_login, "sign in to a server: keep a token for it", false},
  {"logout", cli_logout, "forget the token of a server", false},
  {"submit", cli_submit, "queue a job on a server", true},
  {"wait", cli_wait, "wait until a server's job has ended", false},
  {"get", cli_get, "get a job, mapping or program from a server", false},
  {"cancel", cli_cancel, "cancel a server's job", false},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *stream)
{
  fputs("usage: coremap COMMAND [ARGUMENT...]\n\n", stream);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(stream, "  %-11s %s\n", commands[i].name, commands[i].what);
  fputs("\n`coremap COMMAND --help` says more. Exit status: 0 done, 1 refused or illegal, 2 bad usage or input.\n",
        stream);
}

int main(int argc, char **argv)
{
  if (sodium_init() < 0) {
    fputs("coremap: libsodium cannot start\n", stderr);
    return EXIT_REFUSED;
  }
  if (argc < 2) {
    help(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
    help(stdout);
    return EXIT_DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    puts("coremap " CM_VERSION);
    return EXIT_DONE;
  }
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(argv[1], commands[i].name) == 0) {
      cm_error error;
      int count = argc - 1;
      if (commands[i].reads && cli_read_options(&count, argv + 1, &error) != CM_OK)
        return cli_fail(&error);
      return commands[i].run(count, argv + 1);
    }
  fprintf(stderr, "coremap: there is no command \"%s\"; see coremap --help\n", argv[1]);
  return EXIT_USAGE;
}
