import type { Runtime } from '../../runtime/runtime'

/** The methods that change something. */
const CHANGES: (string | symbol)[] = ['ensure', 'stop', 'kill', 'remove', 'note', 'write'] satisfies (keyof Runtime)[]

/**
 * Returns the runtime with a check before each change.
 * @param check throws when nothing may be changed any more
 */
export function fenceRuntime(runtime: Runtime, check: () => Promise<void>): Runtime {
  return new Proxy(runtime, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (!CHANGES.includes(name)) return member.bind(target) as unknown
      return async (...parameters: unknown[]) => {
        await check()
        return (member as (...all: unknown[]) => Promise<unknown>).apply(target, parameters)
      }
    },
  })
}
