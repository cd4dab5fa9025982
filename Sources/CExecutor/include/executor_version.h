// The version of bgtask-executor, which is that of all programs of this package (Sources/TaskAPI/Version.swift).
#ifndef EXECUTOR_VERSION_H
#define EXECUTOR_VERSION_H

#define EXECUTOR_PROGRAM_VERSION "0.2.0"

/// The same, in one place of a program.
extern const char executor_program_version[sizeof EXECUTOR_PROGRAM_VERSION];

#endif
