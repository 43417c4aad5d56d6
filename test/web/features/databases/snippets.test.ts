/** @jest-environment node */
import { execFileSync } from 'node:child_process'
import { MongoClient } from 'mongodb'
import { Client } from 'pg'
import { parse } from 'yaml'
import type { DatabaseType } from '../../../../src/contract/database'
import type { ListedDatabase } from '../../../../src/web/api/databases'
import { MASK, maskedTextOf, textOf } from '../../../../src/web/features/databases/panel/code'
import { connectionOf, connectionString } from '../../../../src/web/features/databases/panel/connection'
import { snippets } from '../../../../src/web/features/databases/panel/snippets'

const databaseOf = (credentials: object, name = 'shop'): ListedDatabase => ({
  name,
  size: 0,
  tables: 0,
  credentials: { username: 'shop', password: 'secret', host: 'db.example', port: 5432, ...credentials },
})

const stringOf = (type: DatabaseType, database: ListedDatabase) =>
  textOf(connectionString(type, connectionOf(type, database)!))

function snippetOf(type: DatabaseType, key: string, database: ListedDatabase) {
  const { source } = snippets[type].find((snippet) => snippet.key === key)!
  return textOf(source(connectionOf(type, database)!))
}

/** Passwords, users and database names with characters that are special in a shell, language or format. */
const nasty = [
  "it's",
  'a"b',
  '\\',
  'a\\b\\',
  "\\'",
  '$HOME',
  '${HOME}',
  '\\${user.name}',
  '$${a:b}}',
  '$(id)',
  '`id`',
  'a b  c ',
  '100%41',
  'p@ss:w/o?r#d&x=y+z',
  '[::1]',
  '!history',
  '# no comment',
  '- item',
  '{a: b}',
  "';--",
  '*',
  '~',
  'null',
  '0123',
  'two\nlines\r\n\ttab',
  '\u0007\u007f\u0085\u2028\u2029\ufeff',
  'ünïcødé 😀 日本',
  '\\u0041',
  '<script>',
]

describe('§7 the connection string', () => {
  test.each([
    ['sql', 'postgresql://shop:secret@db.example:5432/shop'],
    ['mongo', 'mongodb://shop:secret@db.example:5432/shop'],
  ] as const)('for %s has scheme, user, password, host, port and name', (type, expected) => {
    expect(stringOf(type, databaseOf({}))).toBe(expected)
  })

  test('percent-encodes every part', () => {
    const database = databaseOf({ username: 'a/b', password: "p@s's:w%(o)rd!*", database: 'x?y#z' })
    expect(stringOf('sql', database)).toBe(
      'postgresql://a%2Fb:p%40s%27s%3Aw%25%28o%29rd%21%2A@db.example:5432/x%3Fy%23z',
    )
  })

  test.each([
    ['::1', '[::1]:5432'],
    ['[2001:db8::7]', '[2001:db8::7]:5432'],
    ['fe80::1%eth0', '[fe80::1%25eth0]:5432'],
    ['::ffff:10.0.0.1', '[::ffff:10.0.0.1]:5432'],
    ['10.0.0.1', '10.0.0.1:5432'],
    ['/run/postgresql', '%2Frun%2Fpostgresql:5432'],
  ])('writes the host %s as %s', (host, address) => {
    expect(stringOf('sql', databaseOf({ host }))).toBe(`postgresql://shop:secret@${address}/shop`)
  })

  test('decisions §8: uses credentials.database, or the name if it is missing', () => {
    expect(stringOf('sql', databaseOf({ database: 'physical_1' }, 'shown'))).toBe(
      'postgresql://shop:secret@db.example:5432/physical_1',
    )
    expect(stringOf('sql', databaseOf({}, 'shown'))).toBe('postgresql://shop:secret@db.example:5432/shown')
  })

  test('omits a missing port', () => {
    expect(stringOf('sql', databaseOf({ port: undefined }))).toBe('postgresql://shop:secret@db.example/shop')
  })

  test('adds authSource for MongoDB if the server sends one', () => {
    expect(stringOf('mongo', databaseOf({ authSource: 'a&b' }))).toBe(
      'mongodb://shop:secret@db.example:5432/shop?authSource=a%26b',
    )
    expect(stringOf('sql', databaseOf({ authSource: 'admin' }))).not.toContain('admin')
  })

  test('of a mongodb+srv database is the one from the server', () => {
    const given = 'mongodb+srv://shop:secret@cluster.example/shop?authSource=shop&tls=true'
    const database = databaseOf({ connectionString: given })
    expect(stringOf('mongo', database)).toBe(given)
    expect(maskedTextOf(connectionString('mongo', connectionOf('mongo', database)!))).toBe(
      `mongodb+srv://shop:${MASK}@cluster.example/shop?authSource=shop&tls=true`,
    )
    expect(snippetOf('mongo', 'mongosh', database)).toBe(`mongosh '${given}'`)
    expect(stringOf('mongo', databaseOf({ connectionString: 'mongodb://other' }))).toBe(
      'mongodb://shop:secret@db.example:5432/shop',
    )
  })

  test('of a MongoDB with several hosts is the one from the server', () => {
    const given = 'mongodb://shop:secret@one:27017,two:27018/shop?replicaSet=rs0&authSource=shop'
    const database = databaseOf({ host: 'one', port: 27017, connectionString: given })
    expect(stringOf('mongo', database)).toBe(given)
    expect(maskedTextOf(connectionString('mongo', connectionOf('mongo', database)!))).toBe(
      given.replace('secret', MASK),
    )
  })

  test.each([
    ['sql', 'postgresql://shop:secret@db.example:5432/shop?sslmode=require', '?sslmode=require'],
    ['sql', 'postgres://shop:secret@db.example/shop?sslmode=verify-full&sslpassword=hush', '?sslmode=verify-full'],
    [
      'mongo',
      'mongodb://shop:secret@db.example/shop?TLS=true&replicaSet=rs%260&authSource=shop&proxyPassword=hush',
      '?tls=true&replicaSet=rs%260&authSource=shop',
    ],
    ['sql', 'mongodb://shop:secret@db.example/shop?tls=true', ''],
    ['mongo', 'postgresql://shop:secret@db.example/shop?sslmode=require', ''],
  ] as const)('for %s keeps of %s only the TLS and cluster options', (type, given, options) => {
    expect(stringOf(type, databaseOf({ connectionString: given }))).toBe(
      `${type === 'sql' ? 'postgresql' : 'mongodb'}://shop:secret@db.example:5432/shop${options}`,
    )
  })

  test.each(['username', 'password', 'host'])('is undefined without the %s', (part) => {
    expect(connectionOf('sql', databaseOf({ [part]: undefined }))).toBeUndefined()
    expect(connectionOf('sql', databaseOf({ [part]: '' }))).toBeUndefined()
  })

  test('accepts an unpaired surrogate', () => {
    expect(stringOf('sql', databaseOf({ password: 'a\ud83d' }))).toContain('a%EF%BF%BD')
  })

  test.each(nasty)('is parsed by pg to the same values: %j', (text) => {
    const uri = stringOf('sql', databaseOf({ username: text, password: text, database: text }))
    expect(new Client({ connectionString: uri })).toMatchObject({
      user: text,
      password: text,
      host: 'db.example',
      port: 5432,
    })
    expect(nameIn(uri)).toBe(text)
  })

  test.each(nasty)('is parsed by mongodb to the same values: %j', (text) => {
    const { options } = new MongoClient(stringOf('mongo', databaseOf({ username: text, password: text })))
    expect(options.credentials).toMatchObject({ username: text, password: text, source: 'shop' })
    expect(options.hosts.map(String)).toEqual(['db.example:5432'])
    expect(options.dbName).toBe('shop')
  })
})

describe('the snippets', () => {
  test.each([
    ['sql', ['psql', 'JDBC', 'Node.js', 'Spring', 'Plugin config']],
    ['mongo', ['mongosh', 'Node.js', 'Spring', 'Plugin config']],
  ] as const)('for %s are %j', (type, titles) => {
    expect(snippets[type].map(({ title }) => title)).toEqual(titles)
  })

  test.each(nasty)('psql: the shell passes the same values: %j', (text) => {
    const snippet = snippetOf('sql', 'psql', databaseOf({ username: text, password: text, database: text }))
    const [password, uri, ...more] = run(snippet, 'psql')
    expect(password).toBe(text)
    expect(new Client({ connectionString: uri })).toMatchObject({
      user: text,
      password: null,
      host: 'db.example',
      port: 5432,
    })
    expect(nameIn(uri!)).toBe(text)
    expect(more).toEqual([])
  })

  test.each(nasty)('mongosh: the shell passes the same values: %j', (text) => {
    const [, uri, ...more] = run(
      snippetOf('mongo', 'mongosh', databaseOf({ username: text, password: text })),
      'mongosh',
    )
    expect(new MongoClient(uri!).options.credentials).toMatchObject({ username: text, password: text })
    expect(more).toEqual([])
  })

  test.each(nasty)('Node.js: pg and mongodb receive the same values: %j', async (text) => {
    const credentials = { username: text, password: text, database: text }
    expect(await evaluate(snippetOf('sql', 'node', databaseOf(credentials)))).toEqual([
      { user: text, password: text, database: text, host: 'db.example', port: 5432 },
    ])
    const [uri, name] = await evaluate(snippetOf('mongo', 'node', databaseOf({ ...credentials, database: 'shop' })))
    expect(new MongoClient(uri as string).options.credentials).toMatchObject({ username: text, password: text })
    expect(name).toBe('shop')
  })

  test('Node.js: an IPv6 host has no brackets', async () => {
    expect(await evaluate(snippetOf('sql', 'node', databaseOf({ host: '[::1]' })))).toEqual([
      expect.objectContaining({ host: '::1' }),
    ])
  })

  test.each([
    ['require', { ssl: { rejectUnauthorized: false } }],
    ['verify-full', { ssl: true }],
    ['prefer', {}],
  ])('sslmode=%s of the server is passed to each client that supports it', async (mode, ssl) => {
    const database = databaseOf({ connectionString: `postgresql://shop:secret@db.example:5432/shop?sslmode=${mode}` })
    const [, uri] = run(snippetOf('sql', 'psql', database), 'psql')
    expect(uri).toBe(`postgresql://shop@db.example:5432/shop?sslmode=${mode}`)
    expect(snippetOf('sql', 'jdbc', database)).toContain(`"jdbc:postgresql://db.example:5432/shop?sslmode=${mode}"`)
    expect(at(snippetOf('sql', 'spring', database), 'spring', 'datasource').url).toBe(
      `jdbc:postgresql://db.example:5432/shop?sslmode=${mode}`,
    )
    expect(await evaluate(snippetOf('sql', 'node', database))).toEqual([
      { user: 'shop', password: 'secret', database: 'shop', host: 'db.example', port: 5432, ...ssl },
    ])
  })

  // The escapes of JSON mean the same in Java literals.
  test.each(nasty)('JDBC: the literals have the same values: %j', (text) => {
    const snippet = snippetOf('sql', 'jdbc', databaseOf({ username: text, password: text, database: text }))
    const [url, username, password, ...more] = [...snippet.matchAll(/"(?:[^"\\\n]|\\.)*"/g)].map(
      ([literal]) => JSON.parse(literal) as string,
    )
    expect(url).toMatch(/^jdbc:postgresql:\/\/db\.example:5432\/[^/?#]*$/)
    expect(nameIn(url!.replace(/^jdbc:/, ''))).toBe(text)
    expect([username, password, ...more]).toEqual([text, text])
    expect(snippet.split('\n')).toHaveLength(4)
  })

  // Spring 6.2 and later treat a backslash before a placeholder as an escape.
  describe.each([
    ['before 6.2', false],
    ['since 6.2', true],
  ] as const)('Spring %s', (_version, escapes) => {
    test.each(nasty)('parses the YAML to the same values: %j', (text) => {
      const credentials = { username: text, password: text, database: text }
      const { url, username, password } = at(
        snippetOf('sql', 'spring', databaseOf(credentials)),
        'spring',
        'datasource',
      )
      expect([username, password].map((value) => resolve(value!, escapes))).toEqual([text, text])
      expect(decodeURIComponent(resolve(url!, escapes))).toBe(`jdbc:postgresql://db.example:5432/${text}`)
      const { uri } = at(snippetOf('mongo', 'spring', databaseOf(credentials)), 'spring', 'data', 'mongodb')
      expect(new MongoClient(resolve(uri!, escapes)).options.credentials).toMatchObject({
        username: text,
        password: text,
      })
    })
  })

  test.each(nasty)('Plugin config: the YAML has the same values: %j', (text) => {
    const credentials = { username: text, password: text, database: text }
    const sql = snippetOf('sql', 'plugin', databaseOf(credentials))
    expect(at(sql, 'data')).toEqual({ address: 'db.example:5432', ...credentials })
    // The Java plugins read YAML 1.1.
    expect((parse(sql, { version: '1.1' }) as { data: unknown }).data).toEqual({
      address: 'db.example:5432',
      ...credentials,
    })
    const mongo = at(snippetOf('mongo', 'plugin', databaseOf(credentials)), 'data')
    expect(mongo.database).toBe(text)
    expect(mongo['mongodb-connection-uri']).toBe(stringOf('mongo', databaseOf(credentials)))
  })

  test('every snippet is masked until the password is revealed', () => {
    for (const type of ['sql', 'mongo'] as const) {
      const connection = connectionOf(type, databaseOf({ password: 'pass word' }))!
      for (const source of [
        connectionString(type, connection),
        ...snippets[type].map((snippet) => snippet.source(connection)),
      ]) {
        expect(maskedTextOf(source)).toContain(MASK)
        expect(maskedTextOf(source)).not.toMatch(/pass( |%20)word/)
        expect(textOf(source)).toMatch(/pass( |%20)word/)
      }
    }
  })
})

/** The database name as libpq and JDBC read it. (pg decodes it only in part.) */
const nameIn = (uri: string) => decodeURIComponent(new URL(uri).pathname.slice(1))

/** Runs a snippet with a fake program; returns its PGPASSWORD, then its arguments. */
function run(snippet: string, program: string) {
  const shown = `${program}() { for each in "$PGPASSWORD" "$@"; do printf '%s\\0' "$each"; done; }\n${snippet}`
  return execFileSync('sh', ['-c', shown], { encoding: 'utf8', env: { HOME: '/home' } })
    .split('\0')
    .slice(0, -1)
}

/** Evaluates a JavaScript snippet; returns the arguments of its clients. */
async function evaluate(snippet: string): Promise<unknown[]> {
  const heard: unknown[] = []
  const pg = {
    Client: class {
      constructor(options: unknown) {
        heard.push(options)
      }
      connect() {}
    },
  }
  class MongoClientSeen {
    constructor(uri: unknown) {
      heard.push(uri)
    }
    db(name: unknown) {
      heard.push(name)
    }
  }
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  await new AsyncFunction('pg', 'MongoClient', snippet.replace(/^import .*;\n/, ''))(pg, MongoClientSeen)
  return heard
}

function at(yaml: string, ...path: string[]) {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], parse(yaml)) as Record<
    string,
    string
  >
}

/** Resolves Spring placeholders with no property set. */
function resolve(text: string, escapes: boolean): string {
  const start = text.indexOf('${')
  const end = text.indexOf('}', start)
  if (start === -1 || end === -1) return text
  if (escapes && text[start - 1] === '\\')
    return text.slice(0, start - 1) + '${' + resolve(text.slice(start + 2), escapes)
  const [key, ...rest] = text.slice(start + 2, end).split(':')
  if (rest.length === 0) throw new Error(`Could not resolve placeholder '${key}'`)
  return text.slice(0, start) + rest.join(':') + resolve(text.slice(end + 1), escapes)
}
