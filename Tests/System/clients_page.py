"""Runs what docs/clients.md shows, in order, and compares with what it shows below.

    clients_page.py PAGE

Meant for a box of Debian 13 with the daemon installed and the packages that the page names. Numbers may differ: ids and
times are others on each machine. A unit, or a script that begins with #!, is written to the last path that the text
before it names; C and Go have to be in the example that was last linked. Ends with 1 where the page is wrong, and says
where.
"""
import os
import re
import subprocess
import sys


def blocks(page):
    """The fenced blocks: the text before each, its language, its lines."""
    parts = re.split(r"^```", page, flags=re.MULTILINE)
    for before, block in zip(parts[0::2], parts[1::2]):
        language, _, text = block.partition("\n")
        yield before, language, text


def install(before, text):
    path = re.findall(r"`(/[^`]*)`", before)[-1]
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755 if text.startswith("#!") else 0o644)
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    print(f"wrote {path}")


def run(text):
    # The packages are there, and the network is not.
    script = re.sub(r"^apt-get .*\n", "", text, flags=re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=240)
    print(done.stdout, end="")
    return done.stdout


def is_in_example(page, seen, text):
    example = re.findall(r"\]\((\.\./Examples/[^)]*)\)", seen)[-1]
    with open(os.path.join(os.path.dirname(page), example)) as file:
        return text in file.read()


def comparable(text):
    # varlinkctl begins each reply of a stream with an RS character.
    return [re.sub(r"[0-9.]+", "0", line) for line in text.replace("\x1e", "").split("\n")]


def main(path):
    compared = wrong = 0
    printed = seen = ""
    with open(path) as file:
        page = file.read()
    for before, language, text in blocks(page):
        seen += before
        if language == "ini" or text.startswith("#!"):
            install(before, text)
            right = True
        elif language == "sh":
            printed = run(text)
            right = True
        elif language == "":
            compared += 1
            right = comparable(printed) == comparable(text)
        else:
            right = is_in_example(path, seen, text)
        if not right:
            wrong += 1
            print(f"WRONG: the page shows\n{text}", end="")
    if wrong or not compared:
        sys.exit(1)
    print(f"all {compared} outputs are as the page shows them")


if __name__ == "__main__":
    main(sys.argv[1])
