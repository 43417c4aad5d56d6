import { findContainerPrograms } from '../../../src/platform/runtime/contained/containerPrograms'

/** Whether instances can run in containers here. `npm test` installs what that needs if root runs it on Debian. */
export const canContain = process.platform === 'linux' && !('missing' in findContainerPrograms(process.env.PATH ?? ''))

/** Whether the test may mount file systems and change owners of files. */
export const isRoot = process.getuid?.() === 0
