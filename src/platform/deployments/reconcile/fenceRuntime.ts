import type { Runtime } from '../../runtime/runtime'

/** The methods that change nothing. All others are checked. */
const READS: (string | symbol)[] = [
  'list',
  'watch',
  'history',
  'follow',
  'nodes',
  'sample',
  'close',
] satisfies (keyof Runtime)[]

/**
 * Returns the runtime with a check before each change.
 * @param check throws when nothing may be changed any more
 */
export function fenceRuntime(runtime: Runtime, check: () => Promise<void>): Runtime {
  return new Proxy(runtime, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (READS.includes(name)) return member.bind(target) as unknown
      return async (...args: unknown[]) => {
        await check()
        return (member as (...args: unknown[]) => Promise<unknown>).apply(target, args)
      }
    },
  })
}
