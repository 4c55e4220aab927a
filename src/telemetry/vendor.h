/*
 * vendor: what the collectors that dlopen a vendor's library share.
 */
#ifndef IPW_TELEMETRY_VENDOR_H
#define IPW_TELEMETRY_VENDOR_H

#include "base/dl.h"

/* dl_load with words for a person. -ENODEV "<first name> is not installed" when none of the names
 * exists; -ENOEXEC when a file is there but is no library, -ENOSYS when it is another one: those
 * are mistakes to be told, not absent hardware. */
int vendor_load(struct dl *ret, const char *const *names, const struct dl_symbol *symbols,
                void *api, struct err *err);

/* A library can be installed where there is no such GPU, and then complains of the missing driver.
 * When the machine's PCI devices can be listed and none is of this vendor ("0x10de"), makes of the
 * failure `code` (negative) in err the -ENODEV "no <what> GPU here (<words>)"; returns the code. */
int vendor_blame(const char *sysfs_root, const char *pci_vendor, const char *what, int code,
                 struct err *err);

/* Copies a name that the library gave: at most size - 1 characters, all of them printable ASCII (a
 * byte that is not becomes '?'), because it goes to terminals and into files. */
void vendor_text(char *to, size_t size, const char *from);

#endif
