import type { z } from 'zod'
import type { Random } from './random'

/** Names that exist on the fuzzed platform, with which a call passes its first check, and others. */
const ORDINARY = [
  'fuzz',
  'ann',
  'bob',
  'sql',
  'mongo',
  'lobby',
  'process',
  'persistent',
  'a',
  '1',
  '0',
  '123456',
  'true',
  'correct horse',
  'node-a',
  'plots',
  'some text',
  'echo hello',
  '/nfsshare',
  '/nfsshare/fuzz',
  '/nfsshare/fuzz/a.txt',
  '/nfsshare/fuzz/b',
  '/nfsshare/fuzz/b/c.txt',
  '/nfsshare/fuzz/new',
  '/nfsshare/fuzz/a.zip',
  '/nfsshare/fuzz/none',
  '00000000-0000-4000-8000-000000000000',
  '2026-01-01T00:00:00Z',
  'bytes=0-1',
  'utf-8',
  'name: fuzz\ntype: process\ndataDirectory: /fuzz\nrun: { command: ["sleep", "1000"] }\n',
]
const NASTY = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\n',
  'a\r\nSet-Cookie: x=y',
  '\u202e',
  '\ud800',
  '\udfff\ud800',
  '\uffff',
  '\u0000\u0001\u0002',
  '🚀',
  'ﬀ',
  'İ',
  'ß',
  '漢'.repeat(100),
  '..',
  '.',
  '../',
  '../../etc/passwd',
  '..\\..',
  '%2e%2e%2f',
  '%',
  '%zz',
  '%00',
  '%252e',
  '//',
  '/',
  '\\',
  '/nfsshare/..',
  '/nfsshare-evil',
  '/nfsshare//a',
  '/etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$ne',
  '{"$ne":null}',
  "' or 1=1 --",
  '"; drop table users; --',
  '$(id)',
  '`id`',
  ';id',
  '--help',
  '-1',
  '1e999',
  'NaN',
  '0x10',
  '1.5',
  '9007199254740993',
  '2147483648',
  '99999999999999999999',
  '<img src=x onerror=1>',
  '{{7*7}}',
  '${7*7}',
  'null',
  'undefined',
  '[]',
  '{}',
  'x'.repeat(300),
  'x'.repeat(5000),
  '/nfsshare/' + 'x/'.repeat(2000),
]
const NUMBERS = [0, 1, 2, -1, 0.5, 5, 100, 65_536, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, -0, 1e-300, Date.now()]

export function anyText(random: Random): string {
  const kind = random.next()
  if (kind < 0.45) return random.pick(ORDINARY)
  if (kind < 0.85) return random.pick(NASTY)
  if (kind < 0.93) return random.pick(ORDINARY) + random.pick(NASTY)
  return random.bytes(random.int(40)).toString('latin1')
}

/** Any value of JSON. */
export function anyJson(random: Random, depth = 0): unknown {
  const kind = random.int(depth > 3 ? 5 : 9)
  if (kind === 0) return null
  if (kind === 1) return random.chance(0.5)
  if (kind === 2) return random.pick(NUMBERS)
  if (kind < 6) return anyText(random)
  if (kind === 6) return Array.from({ length: random.int(5) }, () => anyJson(random, depth + 1))
  return Object.fromEntries(Array.from({ length: random.int(5) }, () => [anyText(random), anyJson(random, depth + 1)]))
}

/** The share of values that follow their schema. */
const OBEDIENCE = 0.85

interface Def {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  options?: z.ZodType[]
  entries?: Record<string, string>
  values?: unknown[]
  innerType?: z.ZodType
  in?: z.ZodType
  keyType?: z.ZodType
  valueType?: z.ZodType
}

/** A value that mostly follows a schema, but may have missing, additional or wrong properties. */
export function valueOf(random: Random, schema: z.ZodType): unknown {
  if (!random.chance(OBEDIENCE)) return anyJson(random)
  const def = (schema as unknown as { _zod: { def: Def } })._zod.def
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape ?? {}).filter(() => random.chance(0.95))
      if (random.chance(0.08)) fields.push([anyText(random), schema])
      return Object.fromEntries(
        fields
          .map(([name, field]): [string, unknown] => [
            name,
            field === schema ? anyJson(random) : valueOf(random, field),
          ])
          .filter(([, value]) => value !== undefined),
      )
    }
    case 'array':
      return Array.from({ length: random.pick([0, 1, 1, 2, 3, 50]) }, () => valueOf(random, def.element!))
    case 'record':
      return Object.fromEntries(
        Array.from({ length: random.int(4) }, () => [
          String(valueOf(random, def.keyType!)),
          valueOf(random, def.valueType!),
        ]),
      )
    case 'union':
      return valueOf(random, random.pick(def.options!))
    case 'enum':
      return random.pick(Object.values(def.entries!))
    case 'literal':
      return random.pick(def.values!)
    case 'optional':
    case 'default':
      return random.chance(0.4) ? undefined : valueOf(random, def.innerType!)
    case 'nullable':
      return random.chance(0.3) ? null : valueOf(random, def.innerType!)
    case 'pipe':
      return valueOf(random, def.in!)
    case 'boolean':
      return random.chance(0.5)
    default:
      return leafOf(random, schema)
  }
}

/** The first of several texts and numbers that the schema accepts. */
function leafOf(random: Random, schema: z.ZodType): unknown {
  for (let tries = 0; tries < 30; tries++) {
    const value = random.chance(0.3)
      ? random.pick(NUMBERS)
      : random.chance(0.8)
        ? random.pick(ORDINARY)
        : anyText(random)
    if (schema.safeParse(value).success) return value
  }
  return anyJson(random)
}
