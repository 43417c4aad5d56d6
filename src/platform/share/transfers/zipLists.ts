import { createKeyedCounter } from '../../concurrency/keyedCounter'

/**
 * Bytes of memory for the lists of a user's zips: a quarter of a million entries of the usual length. All users
 * together have twice as much, and each at most half of what the others leave: some is always left for one more.
 */
const MAX_USER_BYTES = 128 * 2 ** 20
/** What each zip has whatever others take: two thousand entries. */
const OWN_BYTES = 2 ** 20

/** Memory for the lists of entries of all zips in progress. The list of a zip follows its entries. */
export interface ZipLists {
  begin(userId: number): {
    /** Reserves bytes of memory. @returns false if too little is left */
    reserve(bytes: number): boolean
    /** Gives everything back, for good. */
    end(): void
  }
}

/** @param maxUserBytes overridden by tests, as is ownBytes */
export function createZipLists(maxUserBytes = MAX_USER_BYTES, ownBytes = OWN_BYTES): ZipLists {
  const ofUsers = createKeyedCounter<number>()
  let ofAll = 0
  return {
    begin(userId) {
      let held = 0
      let isEnded = false
      return {
        reserve(bytes) {
          if (isEnded) return false
          const ofUser = ofUsers.get(userId)
          const share = (2 * maxUserBytes - (ofAll - ofUser)) / 2
          if (held + bytes > ownBytes && ofUser + bytes > share) return false
          held += bytes
          ofAll += bytes
          ofUsers.add(userId, bytes)
          return true
        },
        end() {
          isEnded = true
          ofAll -= held
          ofUsers.add(userId, -held)
          held = 0
        },
      }
    },
  }
}
