import { hash, verify, type Algorithm } from '@node-rs/argon2'
import pLimit from 'p-limit'

/** Argon2id with 19 MiB, 2 passes, 1 lane: the OWASP minimum, 15 to 40 ms on a small machine. */
const cost = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Each hash takes 19 MiB and a core. */
const limit = pLimit(4)

/** @returns algorithm, cost, salt and hash in one text (PHC string format) */
export function hashPassword(password: string): Promise<string> {
  return limit(hash, password, cost)
}

let decoy: Promise<string> | undefined

/** Takes the same time without a stored hash, so that timing does not reveal which users exist. */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  decoy ??= hashPassword('nobody has this password')
  const matches = await limit(verify, stored ?? (await decoy), password)
  return matches && Boolean(stored)
}
