import { createContext, Script } from 'node:vm'
import { worstCasesOf, type Attack } from './worstCases'

/** In UTF-16 units. */
const SIZE = 4 * 1024
/** The size of the second look, as a multiple of the first. */
const STEP = 16
/** A linear pattern takes 16 times as long for 16 times the text, and a quadratic one 256 times. */
const MOST_GROWTH = 100
const TRIES = 20
/** What takes less than this at SIZE is not looked at again. In milliseconds. */
const WORTH_A_LOOK_MS = 0.4

/** Its variables are its own: those of a context are slow. */
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

/** Time of the processor that this process has used: while other processes have it, this stands still. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * An attack whose time grows faster than its length, in words; undefined when there is none.
 * @param deadline of each step, in milliseconds: what takes longer has grown without bounds.
 */
export function superLinearAttack(pattern: RegExp, deadline = 20_000): string | undefined {
  const current: { attack?: Attack } = {}
  const took = (attacks: Attack[], size: number) =>
    script.runInContext(createContext({ pattern, attacks, current, size, now: cpuMs }), {
      timeout: deadline,
    }) as number[]
  const isSteep = (attack: Attack) => {
    let [short, long] = [Infinity, Infinity]
    // Garbage is collected meanwhile: the quickest run is the one that this disturbed the least.
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
