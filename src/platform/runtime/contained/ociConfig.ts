import { OOM_SCORES } from '../../supervision/programProcess'
import { instanceOpenFiles } from '../../openFiles'
import { WORKING_DIRECTORY } from './systemPaths'

/** CPU quota is measured per period. */
const PERIOD_US = 100_000
/** Far more than a game server needs, but few enough to survive a fork bomb. */
const PROCESS_LIMIT = 4096
const CLONE_NEWUSER = 0x1000_0000
/**
 * Requests of ptrace(2) that take options, and the option that holds a process at its exit until its tracer releases
 * it.
 */
const PTRACE_SETOPTIONS = 0x4200
const PTRACE_SEIZE = 0x4206
const PTRACE_O_TRACEEXIT = 0x40
/** Command of fcntl(2) that makes others wait for up to 45 s to open a file. */
const F_SETLEASE = 1024
/** Sockets between virtual machines and their host, which belong to no network. Docker refuses them too. */
const AF_VSOCK = 40

/** Mounted from the host in a user namespace, which may not mount a new one of the host’s network. */
export const SYS = '/sys'

export interface Mount {
  source: string
  target: string
}

export interface ContainerSpec {
  /** Command line of the container's first process. */
  args: string[]
  env: Record<string, string>
  /** User id on the host; also inside the container, unless rootless. */
  uid: number
  gid: number
  /** Host path, mounted at WORKING_DIRECTORY. */
  directory: string
  readable: Mount[]
  /** Paths inside readable directories that must appear empty. */
  hidden: string[]
  /** Undefined if limits cannot be enforced. */
  cgroup: { path: string; cores: number | undefined; memoryBytes: number | undefined } | undefined
  isRootless: boolean
  /** Whether what is mounted below a read-only path is read-only too: it needs runc 1.1 and Linux 5.12. */
  hasRecursiveReadOnly: boolean
}

/** The part of a container that the platform chooses, not the spec of the instance. */
export type PreparedContainer = Pick<
  ContainerSpec,
  'uid' | 'gid' | 'readable' | 'hidden' | 'cgroup' | 'isRootless' | 'hasRecursiveReadOnly'
>

/** System calls that game servers do not need and kernel exploits use; Docker's default profile refuses them too. */
const REFUSED_CALLS = [
  'acct',
  'add_key',
  'bpf',
  'delete_module',
  'finit_module',
  'fsconfig',
  'fsmount',
  'fsopen',
  'fspick',
  'init_module',
  'io_uring_enter',
  'io_uring_register',
  'io_uring_setup',
  'kexec_file_load',
  'kexec_load',
  'keyctl',
  'mount',
  'mount_setattr',
  'move_mount',
  'name_to_handle_at',
  'nfsservctl',
  'open_by_handle_at',
  'open_tree',
  'perf_event_open',
  'pivot_root',
  'quotactl',
  'reboot',
  'request_key',
  'setns',
  'swapoff',
  'swapon',
  'syslog',
  'umount',
  'umount2',
  'unshare',
  'userfaultfd',
  'vm86',
  'vm86old',
]
const ENOSYS = 38
/** By `process.arch`, including its 32-bit variants (SteamCMD). The filter kills programs of other architectures. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string[]>> = {
  x64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
}

const bindMount = ({ source, target }: Mount, access: ('ro' | 'rro' | 'rw')[], restrictions: string[] = []) => ({
  destination: target,
  source,
  type: 'bind',
  options: [...new Set(['rbind', ...access, 'nosuid', 'nodev', ...restrictions])],
})
const pseudoMount = (destination: string, type: string, ...options: string[]) => ({
  destination,
  type,
  source: type,
  options,
})

/**
 * The configuration of a container (OCI runtime specification 1.0.2): own namespaces for processes, mounts and IPC, no
 * capabilities, no new privileges, the network of the host (decisions §12).
 * @param kernel /sys and the cgroup mounts below it, which a rootless container mounts from the host, outermost first
 * @param restrictions mount options that a bind mount of a host path must have, by path
 */
export function ociConfig(spec: ContainerSpec, kernel: string[], restrictions: Map<string, string[]>): object {
  const { uid, gid, cgroup, isRootless, hasRecursiveReadOnly } = spec
  const readOnly = (mount: Mount) =>
    bindMount(mount, hasRecursiveReadOnly ? ['ro', 'rro'] : ['ro'], restrictions.get(mount.source))
  const openFiles = instanceOpenFiles()
  const sys = isRootless
    ? kernel.map((path) => readOnly({ source: path, target: path }))
    : [pseudoMount(SYS, 'sysfs', 'nosuid', 'noexec', 'nodev', 'ro')]
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      // runc requires a mapping for id 0, and without root only the own id can be mapped: so the user is 0 inside.
      user: isRootless ? { uid: 0, gid: 0 } : { uid, gid },
      args: spec.args,
      env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      cwd: WORKING_DIRECTORY,
      noNewPrivileges: true,
      oomScoreAdj: OOM_SCORES.instances,
      rlimits: [{ type: 'RLIMIT_NOFILE', soft: openFiles, hard: openFiles }],
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
    },
    root: { path: 'rootfs', readonly: true },
    mounts: [
      pseudoMount('/proc', 'proc', 'nosuid', 'noexec', 'nodev'),
      pseudoMount('/dev', 'tmpfs', 'nosuid', 'strictatime', 'mode=755', 'size=65536k'),
      pseudoMount('/dev/pts', 'devpts', 'nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'),
      pseudoMount('/dev/shm', 'tmpfs', 'nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'),
      pseudoMount('/tmp', 'tmpfs', 'nosuid', 'nodev', 'mode=1777', 'size=1g'),
      ...sys,
      ...(isRootless ? [] : [pseudoMount('/sys/fs/cgroup', 'cgroup', 'nosuid', 'noexec', 'nodev', 'relatime', 'ro')]),
      ...spec.readable.map(readOnly),
      ...spec.hidden.map((path) => pseudoMount(path, 'tmpfs', 'nosuid', 'noexec', 'nodev', 'ro', 'mode=0', 'size=4k')),
      bindMount({ source: spec.directory, target: WORKING_DIRECTORY }, ['rw'], restrictions.get(spec.directory)),
    ],
    linux: {
      namespaces: [{ type: 'pid' }, { type: 'ipc' }, { type: 'mount' }, ...(isRootless ? [{ type: 'user' }] : [])],
      ...(isRootless && {
        uidMappings: [{ containerID: 0, hostID: uid, size: 1 }],
        gidMappings: [{ containerID: 0, hostID: gid, size: 1 }],
      }),
      ...(cgroup && { cgroupsPath: cgroup.path, resources: resources(cgroup) }),
      seccomp: {
        defaultAction: 'SCMP_ACT_ALLOW',
        ...(ARCHITECTURES[process.arch] && { architectures: ARCHITECTURES[process.arch] }),
        syscalls: [
          { names: REFUSED_CALLS, action: 'SCMP_ACT_ERRNO' },
          {
            names: ['clone'],
            action: 'SCMP_ACT_ERRNO',
            args: [{ index: 0, value: CLONE_NEWUSER, valueTwo: CLONE_NEWUSER, op: 'SCMP_CMP_MASKED_EQ' }],
          },
          { names: ['socket'], action: 'SCMP_ACT_ERRNO', args: [{ index: 0, value: AF_VSOCK, op: 'SCMP_CMP_EQ' }] },
          {
            names: ['fcntl', 'fcntl64'],
            action: 'SCMP_ACT_ERRNO',
            args: [{ index: 1, value: F_SETLEASE, op: 'SCMP_CMP_EQ' }],
          },
          // Two processes that hold each other at their exits cannot be killed.
          ...[PTRACE_SETOPTIONS, PTRACE_SEIZE].map((request) => ({
            names: ['ptrace'],
            action: 'SCMP_ACT_ERRNO',
            args: [
              { index: 0, value: request, op: 'SCMP_CMP_EQ' },
              { index: 3, value: PTRACE_O_TRACEEXIT, valueTwo: PTRACE_O_TRACEEXIT, op: 'SCMP_CMP_MASKED_EQ' },
            ],
          })),
          // A filter cannot read clone3's flags behind their pointer. After ENOSYS, the C library falls back to clone.
          { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
        ],
      },
      maskedPaths: [
        '/proc/acpi',
        '/proc/asound',
        '/proc/kcore',
        '/proc/keys',
        '/proc/latency_stats',
        '/proc/scsi',
        '/proc/sched_debug',
        '/proc/timer_list',
        '/proc/timer_stats',
        '/sys/firmware',
      ],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  }
}

function resources({ cores, memoryBytes }: NonNullable<ContainerSpec['cgroup']>): object {
  return {
    devices: [{ allow: false, access: 'rwm' }],
    pids: { limit: PROCESS_LIMIT },
    ...(cores !== undefined && { cpu: { quota: Math.max(1000, Math.round(cores * PERIOD_US)), period: PERIOD_US } }),
    // No extra swap: at its memory limit a server would swap and freeze instead of being killed.
    ...(memoryBytes !== undefined && { memory: { limit: memoryBytes, swap: memoryBytes } }),
  }
}
