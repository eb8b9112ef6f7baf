//! Where the compiled program runs: in a process that can write to its own folder only, has no
//! network, and starts no other processes.
//!
//! The program is a stranger's, and more of it runs than the checked path: constructors, inline
//! assembly. On Linux, Landlock forbids writing outside the folder, TCP, and signals to other
//! processes; a seccomp filter forbids sockets, new processes and sessions, and calls that change
//! files or the system without opening a file. Resource limits bound time, memory and files. The
//! environment is empty. Reading files is allowed: what is read stays in the process, whose output
//! is not shown.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Limits of resources.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resources {
    /// Processor time.
    pub time: Duration,
    /// Whether addresses are limited.
    pub addresses: Addresses,
}

/// Whether a process may reserve only so many addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addresses {
    /// It may use as much as a limit says.
    Limited,
    /// Sanitizers reserve many, and bound what is allocated themselves.
    Unlimited,
}

impl Resources {
    const MEMORY: u64 = 8 << 30;
    const FILE: u64 = 20 << 20;
    const FILES: u64 = 64;
}

/// Prepares a command to run in a sandbox whose writable folder is this.
///
/// # Errors
/// There is no sandbox on this system, and why.
#[cfg(target_os = "linux")]
pub(super) fn enclose(command: &mut Command, folder: &Path, resources: Resources) -> Result<(), String> {
    linux::enclose(command, folder, resources)
}

/// Prepares a command to run in a sandbox.
///
/// # Errors
/// There is none on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn enclose(_: &mut Command, _: &Path, _: Resources) -> Result<(), String> {
    Err("only Linux has one".to_owned())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
    };
    use rustix::process::{Resource, Rlimit, setrlimit, setsid};
    use seccompiler::{apply_filter, sock_filter};

    use super::Resources;

    #[allow(unsafe_code)]
    pub(super) fn enclose(command: &mut Command, folder: &Path, resources: Resources) -> Result<(), String> {
        let mut files = Some(ruleset(folder).map_err(|error| error.to_string())?);
        let filter = super::filter::program().ok_or("this processor is not supported")?;
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin").current_dir(folder);
        let limits = limits(resources);
        let restrict = move || restrict(files.take(), &filter, &limits);
        // SAFETY: the closure runs in the child between fork and exec. It makes system calls with
        // data that were prepared before, takes no lock, and starts no thread.
        unsafe { command.pre_exec(restrict) };
        Ok(())
    }

    fn restrict(
        files: Option<RulesetCreated>,
        filter: &[sock_filter],
        limits: &[(Resource, u64)],
    ) -> io::Result<()> {
        // Without a terminal, nothing can be typed into it.
        setsid().map_err(io::Error::from)?;
        for (resource, most) in limits {
            let limit = Rlimit { current: Some(*most), maximum: Some(*most) };
            setrlimit(*resource, limit).map_err(io::Error::from)?;
        }
        let files = files.ok_or(io::ErrorKind::Other)?;
        files.restrict_self().map_err(|_| io::ErrorKind::PermissionDenied)?;
        apply_filter(filter).map_err(|_| io::ErrorKind::PermissionDenied)?;
        Ok(())
    }

    fn limits(resources: Resources) -> Vec<(Resource, u64)> {
        let memory = match resources.addresses {
            super::Addresses::Limited => Some((Resource::As, Resources::MEMORY)),
            super::Addresses::Unlimited => None,
        };
        let others = [
            (Resource::Core, 0),
            (Resource::Fsize, Resources::FILE),
            (Resource::Nofile, Resources::FILES),
            (Resource::Cpu, resources.time.as_secs() + 1),
        ];
        memory.into_iter().chain(others).collect()
    }

    /// Writing is forbidden outside of a folder: an error if the kernel cannot do that. The network
    /// and signals to others are forbidden as far as it can.
    fn ruleset(folder: &Path) -> Result<RulesetCreated, RulesetError> {
        let handled = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V4))?
            .scope(Scope::from_all(ABI::V6))?;
        let mut created = handled.create()?;
        for (path, access) in
            [(folder, AccessFs::from_write(ABI::V5)), (Path::new("/dev/null"), AccessFs::WriteFile.into())]
        {
            if let Ok(path) = PathFd::new(path) {
                created = created.add_rule(PathBeneath::new(path, access))?;
            }
        }
        Ok(created)
    }
}

/// System calls that are refused.
#[cfg(target_os = "linux")]
mod filter {
    use seccompiler::sock_filter;

    /// Operations of the classic packet filter.
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    /// Where the data of a system call are: its number, the architecture, its first argument.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    const FIRST_ARGUMENT: u32 = 16;
    /// What a filter answers.
    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;
    const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;
    const UNKNOWN: u32 = 0x0005_0000 | libc::ENOSYS as u32;
    /// A new thread of the same process.
    const CLONE_THREAD: u32 = 0x0001_0000;
    /// Calls of the x32 interface have this bit.
    const X32: u32 = 0x4000_0000;

    /// The calls of an architecture.
    struct Table {
        architecture: u32,
        refused: Vec<u32>,
        clone: u32,
        clone3: u32,
    }

    /// The filter for the processor that this runs on, and for 32-bit programs on it.
    pub(super) fn program() -> Option<Vec<sock_filter>> {
        let tables = tables();
        if tables.is_empty() {
            return None;
        }
        let mut program = vec![operation(LOAD, ARCHITECTURE)];
        for table in &tables {
            let body = body(table);
            // Over the part for this architecture, if it is another.
            program.push(jump(JUMP_IF_EQUAL, table.architecture, 1, 0));
            program.push(sock_filter { code: 0x05, jt: 0, jf: 0, k: body.len() as u32 });
            program.extend(body);
        }
        program.push(operation(RETURN, KILL));
        Some(program)
    }

    fn body(table: &Table) -> Vec<sock_filter> {
        let mut body = vec![operation(LOAD, NUMBER)];
        body.push(jump(JUMP_IF_AT_LEAST, X32, 0, 1));
        body.push(operation(RETURN, KILL));
        for number in &table.refused {
            body.push(jump(JUMP_IF_EQUAL, *number, 0, 1));
            body.push(operation(RETURN, REFUSE));
        }
        body.push(jump(JUMP_IF_EQUAL, table.clone3, 0, 1));
        body.push(operation(RETURN, UNKNOWN));
        body.push(jump(JUMP_IF_EQUAL, table.clone, 1, 0));
        body.push(operation(RETURN, ALLOW));
        body.push(operation(LOAD, FIRST_ARGUMENT));
        body.push(jump(JUMP_IF_SET, CLONE_THREAD, 1, 0));
        body.push(operation(RETURN, REFUSE));
        body.push(operation(RETURN, ALLOW));
        body
    }

    fn operation(code: u16, k: u32) -> sock_filter {
        sock_filter { code, jt: 0, jf: 0, k }
    }

    fn jump(code: u16, k: u32, if_true: u8, if_false: u8) -> sock_filter {
        sock_filter { code, jt: if_true, jf: if_false, k }
    }

    macro_rules! numbers {
        ($($name:ident)*) => { vec![$(libc::$name as u32),*] };
    }

    /// Refused on every architecture.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn common() -> Vec<u32> {
        numbers!(
            SYS_socket SYS_setsid SYS_setpgid SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_kill
            SYS_tkill SYS_pidfd_open SYS_pidfd_send_signal SYS_io_uring_setup SYS_truncate SYS_fchmod
            SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
            SYS_removexattr SYS_lremovexattr SYS_fremovexattr SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot
            SYS_unshare SYS_setns SYS_bpf SYS_perf_event_open SYS_add_key SYS_request_key SYS_keyctl
            SYS_userfaultfd SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot
            SYS_swapon SYS_swapoff SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_sethostname
            SYS_setdomainname SYS_acct SYS_quotactl SYS_syslog SYS_shmget SYS_msgget SYS_semget SYS_mq_open
            SYS_fsopen SYS_move_mount SYS_open_tree SYS_mount_setattr SYS_setuid SYS_setgid SYS_setreuid
            SYS_setregid SYS_setresuid SYS_setresgid
        )
    }

    #[cfg(target_arch = "x86_64")]
    fn tables() -> Vec<Table> {
        let mut refused = common();
        refused.extend(numbers!(
            SYS_fork SYS_vfork SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_iopl
            SYS_ioperm
        ));
        let wide = Table {
            architecture: 0xc000_003e,
            refused,
            clone: libc::SYS_clone as u32,
            clone3: libc::SYS_clone3 as u32,
        };
        // The numbers of the 32-bit interface.
        #[rustfmt::skip]
        let narrow = vec![
            // socketcall, socket, setsid, setpgid, ptrace, process_vm_readv.
            102, 359, 66, 57, 26, 347,
            // process_vm_writev, kill, tkill, pidfd_open, pidfd_send_signal, io_uring_setup.
            348, 37, 238, 434, 424, 425,
            // truncate, truncate64, fchmod, fchmodat, fchown, fchown32.
            92, 193, 94, 306, 95, 207,
            // fchownat, utimensat, utimensat_time64, setxattr, lsetxattr, fsetxattr.
            298, 320, 412, 226, 227, 228,
            // removexattr, lremovexattr, fremovexattr, mount, umount, umount2.
            235, 236, 237, 21, 22, 52,
            // pivot_root, chroot, unshare, setns, bpf, perf_event_open.
            217, 61, 310, 346, 357, 336,
            // add_key, request_key, keyctl, userfaultfd, init_module, finit_module.
            286, 287, 288, 374, 128, 350,
            // delete_module, kexec_load, reboot, swapon, swapoff, settimeofday.
            129, 283, 88, 87, 115, 79,
            // clock_settime, clock_settime64, clock_adjtime, adjtimex, sethostname, setdomainname.
            264, 404, 343, 124, 74, 121,
            // acct, quotactl, syslog, ipc, shmget, msgget.
            51, 131, 103, 117, 395, 399,
            // semget, mq_open, fsopen, move_mount, open_tree, mount_setattr.
            393, 277, 430, 429, 428, 442,
            // setuid, setuid32, setgid, setgid32, setreuid, setreuid32.
            23, 213, 46, 214, 70, 203,
            // setregid, setregid32, setresuid, setresuid32, setresgid, setresgid32.
            71, 204, 164, 208, 170, 210,
            // fork, vfork, chmod, chown, chown32, lchown.
            2, 190, 15, 182, 212, 16,
            // lchown32, utime, utimes, futimesat, iopl, ioperm.
            198, 30, 271, 299, 110, 101,
            // stime.
            25,
        ];
        let narrow = Table { architecture: 0x4000_0003, refused: narrow, clone: 120, clone3: 435 };
        vec![wide, narrow]
    }

    #[cfg(target_arch = "aarch64")]
    fn tables() -> Vec<Table> {
        vec![Table {
            architecture: 0xc000_00b7,
            refused: common(),
            clone: libc::SYS_clone as u32,
            clone3: libc::SYS_clone3 as u32,
        }]
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn tables() -> Vec<Table> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt;
    use std::path::PathBuf;
    use std::process::{ExitStatus, Stdio};

    use super::super::folder::Folder;
    use super::*;

    /// Compiles a program, runs it in a sandbox, and gives its status; the first argument is a file
    /// outside of the folder.
    fn run(body: &str, outside: &Path) -> ExitStatus {
        let folder = Folder::new().unwrap();
        let (source, program) = (folder.path().join("p.c"), folder.path().join("p"));
        let head = "#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n\
            #include <stdio.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n\
            #include <sys/syscall.h>\n#include <sys/types.h>\n#include <sys/wait.h>\n#include <unistd.h>\n";
        fs::write(&source, format!("{head}{body}")).unwrap();
        let compiled = Command::new("cc").arg("-w").arg(&source).arg("-o").arg(&program).status();
        assert!(compiled.unwrap().success());
        let mut command = Command::new(&program);
        command.arg(outside).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
        enclose(
            &mut command,
            folder.path(),
            Resources { time: Duration::from_secs(2), addresses: Addresses::Limited },
        )
        .unwrap();
        command.status().unwrap()
    }

    fn outside(name: &str) -> PathBuf {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp").join(name);
        let _ = fs::create_dir_all(file.parent().unwrap());
        let _ = fs::remove_file(&file);
        file
    }

    #[test]
    fn files_are_written_in_the_folder_only() {
        let file = outside("sandbox-written");
        let text = "__attribute__((constructor)) static void early(int c, char **v) {\n\
            if (open(v[1], O_CREAT | O_WRONLY, 0600) >= 0) _exit(3);\n\
            if (syscall(SYS_openat, AT_FDCWD, v[1], O_CREAT | O_WRONLY, 0600) >= 0) _exit(4);\n\
            if (mkdir(v[1], 0700) == 0 || symlink(\"x\", v[1]) == 0) _exit(5);\n\
            if (system(\"touch /tmp/wherefore-sandbox-test\") == 0) _exit(6); }\n\
            int main(int c, char **v) { FILE *own = fopen(\"own\", \"w\"); if (!own) return 7;\n\
            if (fputs(\"text\", own) < 0 || fclose(own)) return 8; return 42; }\n";
        assert_eq!(run(text, &file).code(), Some(42));
        assert!(!file.exists() && !Path::new("/tmp/wherefore-sandbox-test").exists());
        // What exists is neither changed nor removed.
        fs::write(&file, "kept").unwrap();
        let text = "int main(int c, char **v) { if (open(v[1], O_WRONLY | O_TRUNC) >= 0) return 3;\n\
            if (truncate(v[1], 0) == 0) return 4; if (unlink(v[1]) == 0) return 5;\n\
            if (chmod(v[1], 0) == 0) return 6; if (rename(v[1], \"mine\") == 0) return 7; return 42; }\n";
        assert_eq!(run(text, &file).code(), Some(42));
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn there_are_no_other_processes_and_no_sockets() {
        let text = "int main(void) { if (fork() >= 0) return 3; if (vfork() >= 0) _exit(4);\n\
            if (setsid() >= 0) return 5; if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0) return 6;\n\
            if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 7; if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0) return 8;\n\
            if (kill(getppid(), 0) == 0) return 9; return 42; }\n";
        assert_eq!(run(text, Path::new("none")).code(), Some(42));
    }

    #[test]
    fn time_and_output_are_bounded() {
        let status = run("int main(void) { for (;;); }\n", Path::new("none"));
        assert!(status.signal().is_some(), "{status}");
        let text = "int main(void) { int f = open(\"big\", O_CREAT | O_WRONLY, 0600); char b[4096] = {0};\n\
            signal(SIGXFSZ, SIG_IGN); for (int i = 0; i < 100000; i++) if (write(f, b, 4096) < 0) return 42; return 1; }\n";
        assert_eq!(run(text, Path::new("none")).code(), Some(42));
        assert_eq!(run("int main(void) { abort(); }\n", Path::new("none")).signal(), Some(6));
    }
}
