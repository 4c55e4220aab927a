/*
 * slim: a figure's SVG made smaller, and so that it follows its reader's light or dark screen.
 *
 *     slim_svg(svg, n, &out);
 *
 * Numbers keep two decimals (a hundredth of a pixel), blanks that a path does not need go, and the
 * colours of the theme become variables, which a style inside of the document sets for light and
 * dark: one image instead of two. What is not known is left as it is.
 */
#ifndef IPW_REPORT_SLIM_H
#define IPW_REPORT_SLIM_H

#include "base/buf.h"

#include <stddef.h>

void slim_svg(const char *svg, size_t n, struct buf *out);

#endif
