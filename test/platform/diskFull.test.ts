import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { DatabaseError } from 'pg'
import { fileFailure } from '../../src/platform/share/fileFailure'
import { stateFailure } from '../../src/platform/state/db'

/** As Node.js makes the error of a system call: it has a name for ENOSPC, and none for EDQUOT. */
function systemError(name: 'ENOSPC' | 'EDQUOT'): Error {
  const errno = -constants.errno[name]
  return Object.assign(new Error('write'), { errno, code: getSystemErrorName(errno), syscall: 'write' })
}

/** As PostgreSQL reports a failed write of a file. It has a code of its own for ENOSPC only. */
function databaseError(code: string, reason: string): Error {
  const text = `could not write to log file "000000010000000000000001" at offset 12967936, length 8192: ${reason}`
  return Object.assign(new DatabaseError(text, text.length, 'error'), { code })
}

test.each(['ENOSPC', 'EDQUOT'] as const)('security 137: a write of a file that fails with %s gets 507', (name) => {
  expect(fileFailure(systemError(name), '/nfsshare/lobby/a.txt')).toMatchObject({ code: 'DISK_FULL', status: 507 })
})

test.each([
  ['a full disk', '53100', 'No space left on device'],
  ['a quota', 'XX000', 'Disk quota exceeded'],
])('security 137: a query that fails because of %s gets 507', (_what, code, reason) => {
  expect(stateFailure(databaseError(code, reason))).toMatchObject({ code: 'DISK_FULL', status: 507 })
})
