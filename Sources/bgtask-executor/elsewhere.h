// Groups that are no command's, in which those live that have left theirs.
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include "command.h"

/// Has a child of this process kill all in a group and below (cgroup.kill) where each of them is of a command: who forks faster than
/// it is found cannot hide from that. Nothing is done where somebody else lives there, or too many, nor while two such children
/// are at work for its user. The path is from the folder of the groups on.
void elsewhere_kill(const struct command *command, const char *path);

/// Sees to it that no group stands still for a child that does not come to its end. Returns the milliseconds until it has to be
/// called again, or -1.
int elsewhere_turn(void);

#endif
