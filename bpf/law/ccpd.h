/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * CCPD of Cavendish, Kuwahara, Kumazoe, Tsuru and Oie: CCP with the change of the
 * free space in the bottleneck's buffer, which is ccp.h with a kd above zero.
 *
 * The law in Rust: crates/law/src/cc/ccpd.rs, which has the unit of kd. Both are held equal
 * bit for bit by vectors/ccpd.txt.
 */
#ifndef PENSTOCK_LAW_CCPD_H
#define PENSTOCK_LAW_CCPD_H

#include "ccp.h"

#endif
