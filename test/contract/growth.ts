import { createContext, Script } from 'node:vm'
import { worstCasesOf, type Attack } from './worstCases'

/** Length of the short text, in UTF-16 code units. */
const SIZE = 4 * 1024
/** Length of the long text, as a multiple of the short one. */
const STEP = 16
/** A linear pattern takes 16 times as long for 16 times the text, and a quadratic one 256 times. */
const MOST_GROWTH = 100
const TRIES = 20
/** An attack that takes less at SIZE is not measured again. */
const WORTH_A_LOOK_MS = 0.1

/** Declares its own variables, because variables of a context are slow. */
const script = new Script(`((pattern, attacks, current, size, now) => {
  const took = ({ prefix, pump, suffix }, ofSize) => {
    const text = prefix + pump.repeat(ofSize / pump.length) + suffix
    const from = now()
    pattern.lastIndex = 0
    // To the end with the flag g, as \`replaceAll\` and \`matchAll\` do.
    for (let at = 0; pattern.test(text) && pattern.global; at = pattern.lastIndex) if (pattern.lastIndex === at) pattern.lastIndex += 1
    return now() - from
  }
  return attacks.map((attack) => {
    current.attack = attack
    return Math.min(took(attack, size), took(attack, size))
  })
})(pattern, attacks, current, size, now)`)

/** CPU time of this process in milliseconds, independent of other processes. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Finds an attack whose time grows faster than its length, and describes it; undefined if there is none.
 * @param deadline of each measurement, in milliseconds; a slower attack counts as unbounded.
 */
export function superLinearAttack(pattern: RegExp, deadline = 20_000): string | undefined {
  const current: { attack?: Attack } = {}
  const took = (attacks: Attack[], size: number) =>
    script.runInContext(createContext({ pattern, attacks, current, size, now: cpuMs }), {
      timeout: deadline,
    }) as number[]
  const isSteep = (attack: Attack) => {
    let [short, long] = [Infinity, Infinity]
    // The fastest run has the least garbage collection.
    for (let tries = 0; tries < TRIES; tries++) {
      short = Math.min(short, ...took([attack, attack], SIZE))
      long = Math.min(long, ...took([attack], SIZE * STEP))
      if (long / short <= MOST_GROWTH) return false
    }
    return true
  }
  try {
    const attacks = worstCasesOf(pattern)
    const times = took(attacks, SIZE)
    const steep = attacks.find((attack, at) => (times[at] ?? 0) > WORTH_A_LOOK_MS && isSteep(attack))
    return steep && `${JSON.stringify(steep)} takes more than ${MOST_GROWTH} times as long at ${STEP} times the length`
  } catch (error) {
    return `${JSON.stringify(current.attack)} does not end: ${(error as Error).message}`
  }
}
