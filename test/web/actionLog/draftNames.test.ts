/** @jest-environment node */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subject } from '../../../src/web/drafts/draft'
import { offersChanged } from '../../../src/web/drafts/draftsSlice'
import { call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

const offerOf = (kind: Subject['kind'], name: string) =>
  offersChanged([{ kind, name, id: 'd1', keptAt: 1, isInterrupted: false }])
const offered = (kind: Subject['kind'], name: string, more: { type: string }[] = []) => {
  const { text, log } = exported([
    call('getFiles', '/nfsshare', 'pending'),
    files('plugins'),
    offerOf(kind, name),
    ...more,
  ])
  return { text, offer: (log.final.drafts as { offers: Subject[] }).offers[0]!.name }
}

const root = join(__dirname, '../../../src/web/features')
const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx'))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .flatMap((source) => [...source.matchAll(/useFormDraft\(([^,]+),/g)])
  .flatMap(([, expression = '']) => [...expression.matchAll(/'([^']+)'|`([^`]+)`/g)])
  .map(([, text, template]) => text ?? template!)
  .flatMap((name) =>
    name.includes('${type}') ? ['sql', 'mongo'].map((type) => name.replace('${type}', type)) : [name],
  )

test('the scan finds the drafts of all dialogs', () => expect(names.length).toBeGreaterThanOrEqual(8))

test.each(names)(
  'an exported log keeps the dialog name of the draft %p, so that a replay offers the draft in that dialog',
  (name) => {
    for (const more of [[], later]) {
      const known = name.replace(/\$\{.*\}/, '/nfsshare/plugins')
      expect(offered('form', known, more).offer).toBe(known)
      const { text, offer } = offered('form', name.replace(/\$\{.*\}/, `/nfsshare/${SECRET}`), more)
      expectNowhere(text)
      expect(offer.replace(/\u2022.*/, '')).toBe(name.replace(/\$\{.*\}/, '/nfsshare/'))
    }
  },
)

test.each<[Subject['kind'], string]>([
  ['configuration', SECRET],
  ['configuration', `create ${SECRET}`],
  ['file', `/nfsshare/${SECRET}`],
  ['form', `create deployment ${SECRET}`],
])('the name in the draft of a %s is masked if no response contains it: %s', (kind, name) => {
  for (const more of [[], later]) expectNowhere(offered(kind, name, more).text)
})
