"""Checks of the torture tests: what was answered is kept, and no attempt ran twice.

As a program, in the virtual machine: torture_check.py BGTASKCTL SOCKET MARKS reads lines "ID MARK" of what was
answered and prints what is wrong, and a last line that counts; its status is 0 where nothing is wrong.
"""
import collections
import json
import os
import subprocess
import sys

from torture_load import ATTEMPTS_MAX, kind_of

ENDED_WELL = {"completed", "interrupted", "expired"}


def listed(bgtaskctl, path, *verb):
    """The tasks that a verb lists, by number; a number that comes twice is an error."""
    tasks = {}
    command = [bgtaskctl, "--socket", path, *verb, "--all", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            task = json.loads(line)
            if task["id"] in tasks:
                raise ValueError(f"bgtaskctl {verb[0]}: task {task['id']} comes twice")
            tasks[task["id"]] = task
    if process.returncode != 0:
        raise ChildProcessError(f"bgtaskctl {verb[0]}: status {process.returncode}")
    return tasks


def records(bgtaskctl, path):
    """All tasks that the daemon knows; one that ends meanwhile may be in both lists."""
    live = listed(bgtaskctl, path, "list")
    return live | listed(bgtaskctl, path, "history", "--max", str(10**9))


def count_marks(path):
    """How often each mark was written with the number of each attempt, in the order of the first."""
    if not os.path.exists(path):
        return collections.Counter()
    with open(path, "rb") as file:
        # What is behind the last newline was cut off by the end of the machine.
        return collections.Counter(line.decode() for line in file.read().split(b"\n")[:-1])


class Findings:
    """What is wrong, in sentences, and how much was looked at."""

    SHOWN_MAX = 5

    def __init__(self):
        self.wrong = collections.defaultdict(list)
        self.outcomes = collections.Counter()
        # By how many ms those that end when their handler fires have outlived that moment.
        self.late = []

    def add(self, sentence, subject):
        self.wrong[sentence].append(str(subject))

    def lines(self):
        for sentence, subjects in self.wrong.items():
            shown = ", ".join(subjects[:self.SHOWN_MAX])
            yield f"{len(subjects)} {sentence}: {shown}"


def check(answered, tasks, marks, all_ended, marks_before=None):
    """Compares answers with records and marks.

    answered: pairs of number and mark. tasks: `records`. marks: of `count_marks`, read after the
    records; marks_before: the same before them, for a task that was queued then may run since.
    all_ended: whether nothing may be queued or live any more.
    """
    findings = Findings()
    by_number = {}
    for number, mark in answered:
        if by_number.setdefault(number, mark) != mark:
            findings.add("numbers were given twice", number)
        task = tasks.get(number)
        if task is None:
            findings.add("answered tasks are lost", f"{number} ({mark})")
            continue
        attempt = f"{mark}/{task.get('attempt', 1)}"
        check_task(findings, task, marks[attempt], all_ended)
        if task["state"] == "queued" and (marks_before or marks)[attempt] > 0:
            findings.add("tasks ran and are queued again", number)
        if mark not in task["command"]:
            findings.add("tasks are not what was submitted", number)
    check_attempts(findings, marks)
    return findings


def check_attempts(findings, marks):
    """Each attempt ran once, after those before it, and no more of them than are allowed."""
    last = {}
    for line, count in marks.items():
        mark, attempt = line.split("/")
        if count > 1:
            findings.add("attempts ran more than once", f"{line} ({count} times)")
        if not attempt.isdigit():
            findings.add("tasks ran beside another of their name, or beside themselves", line)
            continue
        if not last.get(mark, 0) < int(attempt) <= ATTEMPTS_MAX[kind_of(mark)]:
            findings.add("attempts ran out of turn", line)
        last[mark] = int(attempt)


def check_task(findings, task, count, all_ended):
    number, outcome = task["id"], task.get("outcome")
    findings.outcomes[outcome or task["state"]] += 1
    if outcome == "expired":
        findings.late.append(task["usedMs"] - task["budget"]["durationMs"] + task["budget"]["graceMs"])
    if (task["state"] == "ended") != (outcome is not None):
        findings.add("tasks have an outcome and no end, or the reverse", number)
    if outcome is None and all_ended:
        findings.add("tasks have not ended", f"{number} ({task['state']})")
    if outcome is not None and outcome not in ENDED_WELL:
        how = f"{outcome}: {task.get('reason')}, {task.get('exit')}, attempt {task.get('attempt', 1)}"
        findings.add("tasks ended as none should", f"{number} {kind_of(task['command'][3])} ({how})")
    if outcome == "completed" and count == 0:
        findings.add("tasks completed without having run", number)


def summary(answered, findings):
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(findings.outcomes.items()))
    text = f"{len(answered)} answered: {outcomes or 'none found'}"
    late = sorted(findings.late)
    if late:
        text += f"; handlers ended tasks {late[0]} to {late[-1]} ms late, half of them {late[len(late) // 2]} at most"
    return text


def main():
    bgtaskctl, path, marks = sys.argv[1:]
    answered = []
    for line in sys.stdin:
        number, mark = line.split()
        answered.append((int(number), mark))
    before = count_marks(marks)
    tasks = records(bgtaskctl, path)
    findings = check(answered, tasks, count_marks(marks), all_ended=False, marks_before=before)
    for line in findings.lines():
        print("WRONG:", line)
    print(summary(answered, findings))
    sys.exit(bool(findings.wrong))


if __name__ == "__main__":
    main()
