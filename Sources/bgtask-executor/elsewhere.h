// Groups that are no command's, in which those live that have left theirs.
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include "command.h"

/// Kills all in a group and below (cgroup.kill) where each of them is of a command: who forks faster than it is found cannot
/// hide from that. Nothing is done where somebody else lives there, or too many for one turn. The path is from the folder of the
/// groups on.
void elsewhere_kill(const struct command *command, const char *path);

#endif
