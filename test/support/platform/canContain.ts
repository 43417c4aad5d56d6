import { findContainerPrograms } from '../../../src/platform/runtime/contained/containerPrograms'

/** Whether instances can run in containers here. `npm test` installs what that needs, where root runs it on Debian. */
export const canContain = process.platform === 'linux' && !('missing' in findContainerPrograms(process.env.PATH ?? ''))

/** Whether file systems can be mounted and files given to other users. */
export const isRoot = process.getuid?.() === 0
