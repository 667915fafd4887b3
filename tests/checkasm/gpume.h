/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The tests of the functions of each filter's folder, which gpume.c calls.
 */

#ifndef TESTS_CHECKASM_VF_GPUME_H
#define TESTS_CHECKASM_VF_GPUME_H

/** Number of calls of a function with different arguments. */
#define TRIALS 20

void checkasm_check_mvview(void);
void checkasm_check_mvfps(void);
void checkasm_check_mvdenoise(void);
void checkasm_check_mvstab(void);
void checkasm_check_mvstereo(void);
void checkasm_check_mvdeint(void);

#endif /* TESTS_CHECKASM_VF_GPUME_H */
