/* coremap: on files what the server does over HTTP, and jobs of a server (SPEC section 12). */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *what;
} commands[] = {
  {"map", cli_map, "map a network on a chip"},
  {"partition", cli_partition, "cut a network into parts, without placing them"},
  {"place", cli_place, "place parts that are made already"},
  {"compile", cli_compile, "turn an ONNX model into a program for a chip, or rewrite it so that its permutations move less"},
  {"run", cli_run_program, "simulate a program: its time and what it computes"},
  {"disassemble", cli_disassemble, "print a program's instructions"},
  {"tile", cli_tile, "the pieces of a program for an ONNX model, as a network"},
  {"schedule", cli_schedule, "schedule tasks on processors or resources"},
  {"simulate", cli_simulate, "simulate the packets of a mapping: step time, latencies, saturation"},
  {"check", cli_check, "verify a mapping independently of what made it"},
  {"show", cli_show, "describe a network, chip or mapping"},
  {"convert", cli_convert, "turn a network into another format"},
  {"generate", cli_generate, "make a network of a published recipe"},
  {"train", cli_train, "train the policy of mapper `learned`"},
  {"login", cli_login, "sign in to a server: keep a token for it"},
  {"logout", cli_logout, "forget the token of a server"},
  {"submit", cli_submit, "queue a job on a server"},
  {"wait", cli_wait, "wait until a server's job has ended"},
  {"get", cli_get, "get a job, mapping or program from a server"},
  {"cancel", cli_cancel, "cancel a server's job"},
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
    if (strcmp(argv[1], commands[i].name) == 0)
      return commands[i].run(argc - 1, argv + 1);
  fprintf(stderr, "coremap: there is no command \"%s\"; see coremap --help\n", argv[1]);
  return EXIT_USAGE;
}
