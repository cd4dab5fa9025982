"""A library that has each sync take longer, as on a disk that really writes."""

import atexit
import shutil
import subprocess
import tempfile

from .row import Failure, Unmeasurable

SOURCE = """#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int slow(long call, int file) {
    struct timespec left = {NANOSECONDS / 1000000000, NANOSECONDS % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
    return syscall(call, file);
}
int fsync(int file) { return slow(SYS_fsync, file); }
int fdatasync(int file) { return slow(SYS_fdatasync, file); }
"""


def environment(milliseconds):
    """What a server is started with so that each sync takes so much longer; needs a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise Unmeasurable("needs a C compiler, for the library that makes syncs slow")
    folder = tempfile.mkdtemp(prefix="bgtaskd-bench-")
    atexit.register(shutil.rmtree, folder)
    library = folder + "/slow.so"
    source = SOURCE.replace("NANOSECONDS", f"{int(milliseconds * 1_000_000)}LL")
    made = subprocess.run(
        [compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", "-x", "c", "-", "-o", library],
        input=source, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Failure(made.stderr)
    return {"LD_PRELOAD": library}
