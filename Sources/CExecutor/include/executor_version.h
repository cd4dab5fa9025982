// The version of bgtask-executor, which is that of all programs of this package (Sources/TaskAPI/Version.swift).
#ifndef EXECUTOR_VERSION_H
#define EXECUTOR_VERSION_H

#define EXECUTOR_PROGRAM_VERSION "0.2.0"

#endif
