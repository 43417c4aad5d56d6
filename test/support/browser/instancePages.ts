import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { call } from './api'
import { openPage } from './browserTest'
import { signUp, useProduct, type Product } from './startProduct'

const PROGRAM = `
console.log('\\u001b[32mDone\\u001b[0m (1.0s)!')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, count] = line.split(' ')
  if (word === 'stop') process.exit(0)
  else if (word === 'crash') process.exit(3)
  else if (word === 'print') for (let i = 1; i <= Number(count); i++) console.log('line ' + i)
  else if (word === 'markup') console.log('<img src=x onerror="window.hacked = 1">\\u001b]8;;http://evil.example\\u0007link\\u001b]8;;\\u0007')
  else console.log('heard ' + line)
})`

interface InstancePages {
  product(): Product
  /** Opens a page for the user that all tests of a file share. */
  signedIn(): ReturnType<typeof openPage>
  /** Deploys a program that prints and answers, and opens its instance's page. */
  run(page: Page, name: string): Promise<void>
}

export const status = (page: Page) => page.getByRole('region', { name: 'Status' })

/** Sets up what tests of an instance's page need. Call it once, outside of tests. */
export function useInstancePages(): InstancePages {
  const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
  let opened: ReturnType<typeof openPage> | undefined
  return {
    product,
    signedIn: () =>
      (opened ??= (async () => {
        const shown = await openPage(product().url)
        await signUp(shown.page, product())
        return shown
      })()),
    async run(page, name) {
      await call(page, 'POST', '/deployments', { name, type: 'scalable' })
      await mkdir(join(product().dataDir, `nfsshare/${name}`), { recursive: true })
      await writeFile(join(product().dataDir, `nfsshare/${name}/main.js`), PROGRAM)
      await call(page, 'PATCH', `/deployments/${name}`, {
        content: `name: ${name}\ntype: scalable\ndescription: Where everybody meets\ndataDirectory: /${name}\nrun: { command: ["node", "main.js"] }\nready: Done\nstop: { command: stop, timeoutSeconds: 5 }\nresources: { cpu: 500m, memory: 1Gi }\n`,
      })
      await call(page, 'POST', `/deployments/${name}/toggle`, { enabled: true })
      await page.goto('/')
      await page.getByRole('link', { name: new RegExp(`-${name}`) }).click()
      await status(page).getByText('Online').waitFor()
    },
  }
}
