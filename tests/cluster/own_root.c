// Makes this process's root the root of its mount namespace, then runs a command: `own_root COMMAND WORD...`. In a chroot
// the two differ, and whoever enters a container's namespace by setns, as `kubectl exec` does, would find itself outside
// of both. Needs a mount namespace of its own, and a chroot whose root is a mount point.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void check(long result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static int is_same(int folder, const char *path) {
    struct stat left, right;
    check(fstat(folder, &left), "fstat");
    check(stat(path, &right), path);
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

int main(int count, char **words) {
    (void)count;
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    check(root, "open /");
    check(mounts, "open /proc/self/ns/mnt");
    check(setns(mounts, CLONE_NEWNS), "setns"); // its side effect: root and working folder are the namespace's
    check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "make mounts private");
    if (!is_same(root, "/")) {
        check(fchdir(root), "fchdir");
        check(syscall(SYS_pivot_root, ".", "."), "pivot_root (the chroot's root has to be a mount point)");
        check(umount2(".", MNT_DETACH), "umount the former root");
        check(chdir("/"), "chdir");
    }
    execvp(words[1], words + 1);
    perror(words[1]);
    return 1;
}
