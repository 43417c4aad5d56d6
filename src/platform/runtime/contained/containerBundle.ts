import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cgroupMounts, isInUserNamespace, mountRestrictions } from './mountRestrictions'
import { ociConfig, SYS, type ContainerSpec } from './ociConfig'

/** Path of the first process in every container. */
const INIT_PATH = '/.quarterdeck-init'

/**
 * The first process of a container: forwards SIGTERM, reaps orphans and exits with the program's exit code. It is
 * needed because the kernel drops signals that the first process of a PID namespace does not handle, and most programs
 * handle none. The command is passed as arguments, never as shell code. The definition's environment can replace any
 * program in here, so nothing may depend on what this script does.
 */
const INIT = `exec 3<&0
"$@" <&3 3<&- &
program=$!
exec 3<&-
trap 'kill -TERM "$program" 2>/dev/null' TERM
wait "$program"
code=$?
# A signal interrupts wait.
while kill -0 "$program" 2>/dev/null; do
  wait "$program"
  code=$?
done
exit "$code"
`

/** What a container is created from. `command` is the program with its arguments. */
export type BundleSpec = Omit<ContainerSpec, 'args'> & { command: string[] }

/** Writes the script of the first process, which all containers share. @returns its path */
export async function writeInitScript(directory: string): Promise<string> {
  const script = join(directory, 'init.sh')
  await writeReadable(script, INIT)
  return script
}

/** Writes a container's OCI bundle: its configuration, its root and its files of users and groups. */
export async function writeBundle(bundle: string, initScript: string, { command, ...spec }: BundleSpec): Promise<void> {
  await mkdir(bundle, { recursive: true, mode: 0o700 })
  // The root of the container; its user needs permission to enter it.
  await mkdir(join(bundle, 'rootfs'))
  await chmod(join(bundle, 'rootfs'), 0o755)
  const user = `quarterdeck:x:${spec.uid}:${spec.gid}:instance:/data:/bin/sh\n`
  const files = { passwd: `root:x:0:0:root:/:/bin/sh\n${user}`, group: `root:x:0:\nquarterdeck:x:${spec.gid}:\n` }
  for (const [file, text] of Object.entries(files)) await writeReadable(join(bundle, file), text)
  const readable = [
    ...spec.readable,
    { source: initScript, target: INIT_PATH },
    ...Object.keys(files).map((file) => ({ source: join(bundle, file), target: `/etc/${file}` })),
  ]
  // Outside of a user namespace, root may mount without the restrictions.
  const isRestricted = spec.isRootless || (await isInUserNamespace())
  const kernel = [SYS, ...(await cgroupMounts(SYS))]
  const restrictions = isRestricted
    ? await mountRestrictions([...kernel, spec.directory, ...readable.map(({ source }) => source)])
    : new Map<string, string[]>()
  await writeFile(
    join(bundle, 'config.json'),
    JSON.stringify(ociConfig({ ...spec, readable, args: ['/bin/sh', INIT_PATH, ...command] }, kernel, restrictions)),
    { mode: 0o600 },
  )
}

/** Makes a file readable for every user, independent of the umask. */
async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text)
  await chmod(file, 0o644)
}
