// What the daemon and bgtask-executor share: their records, and the work of a command.
#ifndef CEXECUTOR_H
#define CEXECUTOR_H

#include "executor_record.h"
#include "executor_transport.h"
#include "executor_version.h"
#include "executor_work.h"

#endif
