// The few system calls that Swift cannot make safely, and what programs in C share with it.
#ifndef CLINUX_H
#define CLINUX_H

#include "clinux_calls.h"
#include "clinux_closer.h"
#include "clinux_group_programs.h"
#include "clinux_memory.h"
#include "clinux_netlink.h"
#include "clinux_proc.h"
#include "clinux_processes.h"
#include "clinux_reader.h"
#include "clinux_remover.h"
#include "clinux_spawn.h"
#include "clinux_strings.h"
#include "clinux_thread.h"
#include "clinux_waits.h"

#endif
