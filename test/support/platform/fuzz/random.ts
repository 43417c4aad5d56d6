/** Reproducible random numbers from a seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** An integer below `limit`. */
  int(limit: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  bytes(length: number): Buffer
}

/** @param at the number of a case in a run: each starts its own sequence, so that one case can be repeated alone. */
export function createRandom(seed: number, at = 0): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(at + 1, 0x85ebca6b)) >>> 0
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => items[int(items.length)]!,
    bytes: (length) => Buffer.from(Uint8Array.from({ length }, () => int(256))),
  }
}

/** `FUZZ_SEED`, otherwise the fallback. */
export function seedOf(fallback: number): number {
  return Number(process.env.FUZZ_SEED ?? fallback)
}

/** Changes, removes, duplicates or truncates a few of the bytes. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes)
  for (let changes = 1 + random.int(6); changes > 0; changes--) {
    const at = random.int(result.length + 1)
    const length = 1 + random.int(8)
    switch (random.int(6)) {
      case 0:
        if (at < result.length) result[at] = random.int(256)
        break
      case 1:
        if (at < result.length) result[at]! ^= 1 << random.int(8)
        break
      case 2:
        result = Buffer.concat([result.subarray(0, at), random.bytes(length), result.subarray(at)])
        break
      case 3:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)])
        break
      case 4:
        result = Buffer.concat([
          result.subarray(0, at),
          result.subarray(Math.max(0, at - length * 4), at),
          result.subarray(at),
        ])
        break
      default:
        // Typical numbers in file formats: sizes, counts, offsets.
        if (at + 4 <= result.length) result.writeUInt32LE(random.pick([0, 1, 0x7fffffff, 0x80000000, 0xffffffff]), at)
    }
  }
  return random.chance(0.1) ? result.subarray(0, random.int(result.length + 1)) : result
}
