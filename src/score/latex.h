/*
 * latex: mathematical text, LaTeX or plain, brought into one form that can be compared and
 * evaluated.
 *
 * Spacing, dollar signs, \left and \right, degree signs and thousands marks go; fractions, roots,
 * products and powers become operators with parentheses; commands for which there is a sign become
 * a byte of enum math_sign, so that every letter that is left is a variable or text. Matrices
 * become tuples of tuples. "and" and "or" become commas.
 *
 *     AUTO(buf) struct buf plain = BUF_INIT(LATEX_MAX * 2);
 *     if (latex_normalise(span_of("\\dfrac{1}{2}\\pi"), &plain))   "((1)/(2))" and MATH_PI
 */
#ifndef IPW_SCORE_LATEX_H
#define IPW_SCORE_LATEX_H

#include "base/buf.h"
#include "score/text.h"

#include <stdbool.h>

#define LATEX_MAX 4096 /* bytes of a text that is looked at as mathematics */

enum math_sign {
    MATH_PI = 1,
    MATH_INFINITY,
    MATH_PLUS_MINUS,
    MATH_SQRT,  /* before a factor */
    MATH_ROOT,  /* before (degree)(radicand) */
    MATH_MIXED, /* between a whole number and its fraction: 3 1/2 */
    MATH_TEXT,  /* around what was in \text{} */
    MATH_IN,    /* element of */
    MATH_UNION,
    MATH_SIN = 14,
    MATH_COS,
    MATH_TAN,
    MATH_LN,
    MATH_LOG, /* base 10 */
    MATH_EXP,
    MATH_ABOUT,        /* what follows is a rounded value */
    MATH_NAME_END = 31 /* behind the name of a command that was left as it is */
};

/* Appends the normal form. False: too long, or nested too deeply. */
bool latex_normalise(struct span text, struct buf *ret);

/* The value of a normal form; its variables (single letters, and commands such as \theta) have
 * values that depend on `sample` alone, so that two forms with the same values for several samples
 * are the same expression. False: it is not an expression. The value may be NAN or infinite.
 * *ret_variables: it has variables. */
bool expression_value(struct span form, unsigned sample, double *ret, bool *ret_variables);

#endif
