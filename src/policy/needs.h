/* SPDX-License-Identifier: Apache-2.0 */
/* What the policies of this build need, for the backends of this build to agree with. */
#ifndef DYNSEL_POLICY_NEEDS_H
#define DYNSEL_POLICY_NEEDS_H

#include <dynsel/execution_info.h>

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
#include <dynsel/auto_tune.h>
#define DYNSEL_NEEDS_OF_AUTO_TUNE DYNSEL_AUTO_TUNE_NEEDS
#else
#define DYNSEL_NEEDS_OF_AUTO_TUNE 0
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
#include <dynsel/dynamic_load.h>
#define DYNSEL_NEEDS_OF_DYNAMIC_LOAD DYNSEL_DYNAMIC_LOAD_NEEDS
#else
#define DYNSEL_NEEDS_OF_DYNAMIC_LOAD 0
#endif

/* fixed_resource and round_robin need nothing. */
#define DYNSEL_NEEDS_OF_POLICIES (DYNSEL_NEEDS_OF_AUTO_TUNE | DYNSEL_NEEDS_OF_DYNAMIC_LOAD)

#endif
