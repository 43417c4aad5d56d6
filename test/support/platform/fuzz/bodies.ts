import { gzipSync } from 'node:zlib'
import { make7z, makeRar, makeTar, makeTarGz, makeZip } from '../archives'
import { mutate, type Random } from './random'
import { anyText } from './values'

/** A multipart form (RFC 7578) with the parts of an upload, and others. */
export function multipartBody(random: Random): { type: string; body: Buffer } {
  const boundary = random.pick(['x', '----WebKitFormBoundary7MA4YWxkTrZu0gW', 'a'.repeat(70), "'()+_,-./:=?", ' x '])
  const parts = Array.from({ length: random.int(5) }, () => part(random))
  if (random.chance(0.6)) parts.unshift(field('path', '/nfsshare/fuzz'))
  const end = random.chance(0.9) ? `--${boundary}--\r\n` : ''
  const body = Buffer.concat([
    ...parts.flatMap((one) => [Buffer.from(`--${boundary}\r\n`), one, Buffer.from('\r\n')]),
    Buffer.from(end),
  ])
  const type = random.chance(0.95)
    ? `multipart/form-data; boundary=${random.chance(0.8) ? `"${boundary}"` : boundary}`
    : random.pick([
        'multipart/form-data',
        'multipart/form-data; boundary=',
        'multipart/mixed; boundary=x',
        'multipart/form-data; boundary=y',
      ])
  return { type, body: random.chance(0.5) ? body : mutate(random, body) }
}

const field = (name: string, value: string) =>
  Buffer.from(`Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`)

function part(random: Random): Buffer {
  const content = random.chance(0.8)
    ? random.bytes(random.int(300))
    : Buffer.alloc(random.int(200_000), random.int(256))
  const whole = () => `Content-Disposition: form-data; name="files"; filename="${random.int(20)}.txt"`
  const header = random.chance(0.6)
    ? whole()
    : random.pick([
        () => `Content-Disposition: form-data; name="files"; filename="${anyText(random)}"`,
        () =>
          `Content-Disposition: form-data; name="files"; filename*=UTF-8''${encodeURIComponent(anyText(random).toWellFormed())}`,
        () => `Content-Disposition: form-data; name="files"`,
        () => `Content-Disposition: form-data; name="files"; filename=""`,
        () => `Content-Disposition: form-data; name="${anyText(random)}"`,
        () =>
          `Content-Disposition: form-data; name="onConflict"\r\n\r\n${random.pick(['replace', 'keepBoth', 'refuse', 'x'])}`,
        () =>
          `Content-Disposition: form-data; name="files"; filename="a.txt"\r\nContent-Transfer-Encoding: base64\r\nContent-Type: ${anyText(random)}`,
        () => `Content-Disposition: attachment`,
        () => `X: ${'y'.repeat(random.int(20_000))}`,
        () => `${'A: b\r\n'.repeat(random.int(300))}Content-Disposition: form-data; name="files"; filename="b"`,
        () => '',
      ])()
  return Buffer.concat([Buffer.from(`${header}\r\n\r\n`), content])
}

const DEFINITIONS = [
  'name: fuzz\ntype: process\ndataDirectory: /fuzz\nrun: { command: ["sleep", "1000"] }\nstop: { timeoutSeconds: 1 }\n',
  'name: fuzz\ntype: process\ndataDirectory: /fuzz\nrun:\n  command: ["sleep", "1000"]\n  env: { KEY: value, NUMBER: 5 }\n  port: 25565\nstop: { command: stop, timeoutSeconds: 1 }\nready: \'Done \\(\'\nresources: { cpu: 1000m, memory: 1Gi }\n',
  'name: fuzz # a comment\ntype: process\ndescription: |\n  of several\n  lines\ndataDirectory: /fuzz\nrun: &run { command: [sleep, "1000"] }\ninstances: { min: 1, max: 3, playersPerInstance: 50 }\n',
]
const PIECES = [
  '&a',
  '*a',
  '<<: *a',
  '!!js/function x',
  '!!binary |',
  '!!set',
  '? ',
  '- ',
  ': ',
  '{',
  '}',
  '[',
  ']',
  '|',
  '>',
  '"',
  "'",
  '---\n',
  '...\n',
  '%YAML 1.2\n',
  '%TAG ! x:\n',
  '\t',
  '\n  ',
  '\u0085',
  '\u2028',
  '\ufeff',
  '~',
  '.nan',
  '.inf',
  '0o17',
  '1_000',
  '2001-01-01',
  '__proto__: 1\n',
  'ready: "(a+)+$"\n',
  'memory: 99999999999Gi',
  'cpu: -1',
  'port: 70000',
  'dataDirectory: /../x',
  'name: other\n',
  'keep: ["../*"]\n',
  'drain: {}\n',
  'mounts: [/]\n',
]

/** The text of a definition with misplaced fragments of YAML. */
export function definitionText(random: Random): string {
  let text = random.pick(DEFINITIONS)
  for (let pieces = random.int(5); pieces > 0; pieces--) {
    const at = random.int(text.length + 1)
    text =
      text.slice(0, at) +
      random.pick(PIECES).repeat(random.chance(0.05) ? 2000 : 1) +
      text.slice(random.chance(0.5) ? at : at + random.int(20))
  }
  return random.chance(0.3) ? mutate(random, Buffer.from(text)).toString() : text
}

/** One valid archive of each format, by its extension. */
export async function sampleArchives(): Promise<Record<string, Buffer>> {
  const files = { 'a.txt': 'some text', 'b/c.txt': 'more of it'.repeat(50) }
  const entries = Object.entries(files).map(([name, content]) => ({ name, content }))
  return {
    zip: await makeZip(files),
    tar: await makeTar([...entries, { name: 'link', type: 'symlink', linkname: 'a.txt' }]),
    'tar.gz': await makeTarGz(entries),
    tgz: await makeTarGz(entries),
    gz: gzipSync('lines\n'.repeat(100)),
    '7z': await make7z({ 'a.txt': 'some text' }),
    rar: makeRar(files),
  }
}
