import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call } from '../support/browser/api'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'
import { modules as gameServerModules } from '../support/gameServerPackage'
import { GAME_SERVER, PLAYER } from '../support/platform/gameServer'

// Isolated instances cannot read the directory where the game server is installed.
const product = useProduct({ QUARTERDECK_SAMPLE: 'off', QUARTERDECK_ISOLATION: 'off' })

const modules = gameServerModules()
const withGameServer = modules ? browserTest : test.skip

withGameServer('decisions §5: a real game server shows its players on the overview', async () => {
  const { page, errors } = await openPage(product().url)
  await signUp(page, product())
  for (const [name, program] of [
    ['arena', GAME_SERVER],
    ['steve', PLAYER],
  ] as const) {
    const type = name === 'arena' ? 'scalable' : 'process'
    await mkdir(join(product().dataDir, 'nfsshare', name), { recursive: true })
    await writeFile(join(product().dataDir, 'nfsshare', name, 'main.js'), program)
    await call(page, 'POST', '/deployments', { name, type })
    const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\nrun: { command: ["node", "main.js"], ${name === 'arena' ? 'port: 25765, ' : ''}env: { NODE_PATH: ${JSON.stringify(modules)}${name === 'arena' ? '' : ', PORT: 25765'} } }\n${name === 'arena' ? 'ready: Done\n' : ''}stop: { timeoutSeconds: 1 }\n`
    await call(page, 'PATCH', `/deployments/${name}`, { content })
    await call(page, 'POST', `/deployments/${name}/toggle`, { enabled: true })
    await page
      .getByRole('link', { name: new RegExp(`-${name}`) })
      .getByText('Online')
      .waitFor({ timeout: 60_000 })
  }
  await page
    .getByRole('link', { name: /-arena/ })
    .getByTitle('1 player')
    .waitFor({ timeout: 60_000 })
  await expectGoodPage(page, 'overview-players')
  await call(page, 'POST', '/deployments/steve/toggle', { enabled: false })
  await page
    .getByRole('link', { name: /-arena/ })
    .getByTitle('0 players')
    .waitFor({ timeout: 60_000 })
  expect(errors).toEqual([])
})
