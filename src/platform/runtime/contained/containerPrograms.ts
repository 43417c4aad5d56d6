import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export interface ContainerPrograms {
  runc: string
  conmon: string
  socat: string
}

/** @param path value of PATH. @returns the programs, or the names of the missing ones. */
export function findContainerPrograms(path: string): ContainerPrograms | { missing: string[] } {
  const directories = [
    ...path.split(delimiter).filter(isAbsolute),
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/usr/local/bin',
    '/usr/bin',
    '/usr/libexec/podman',
    '/usr/lib/podman',
  ]
  const find = (program: string) => directories.map((directory) => join(directory, program)).find(isExecutable)
  const [runc, conmon, socat] = [find('runc'), find('conmon'), find('socat')]
  if (runc !== undefined && conmon !== undefined && socat !== undefined) return { runc, conmon, socat }
  return {
    missing: Object.entries({ runc, conmon, socat }).flatMap(([name, program]) =>
      program === undefined ? [name] : [],
    ),
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
