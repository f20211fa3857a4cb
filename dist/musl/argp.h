/* The few names of glibc's argp.h that elfutils' lib/ mentions. musl has no such header, and libelf calls none of this. */
#ifndef PENSTOCK_ARGP_H
#define PENSTOCK_ARGP_H

#include <stdio.h>

typedef int error_t;

struct argp_state {
	const struct argp *root_argp;
	char *name;
};

struct argp_option {
	const char *name;
	int key;
	const char *arg;
	int flags;
	const char *doc;
	int group;
};

struct argp {
	const struct argp_option *options;
	error_t (*parser)(int key, char *arg, struct argp_state *state);
	const char *args_doc;
	const char *doc;
	const void *children;
	char *(*help_filter)(int key, const char *text, void *input);
	const char *argp_domain;
};

#define ARGP_HELP_SEE 4
#define ARGP_ERR_UNKNOWN 7
#define OPTION_ARG_OPTIONAL 1
#define OPTION_HIDDEN 2

void argp_help(const struct argp *argp, FILE *stream, unsigned flags, char *name);

#endif
