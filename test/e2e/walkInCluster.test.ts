import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embeddedPostgres'
import { openPage } from '../support/browser/browserTest'
import { status } from '../support/browser/instancePages'
import { register } from '../support/browser/startProduct'
import { clusterTitle, hasCluster } from '../support/platform/cluster'
import { buildPlatformImage, canBuildImage } from '../support/platform/inCluster/platformImage'
import { IN_CLUSTER_MS, startInCluster, type PlatformInCluster } from '../support/platform/inCluster/platformInCluster'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

// With the build of the image.
jest.setTimeout(1_800_000)

const PROGRAM = `run:
  command:
    - sh
    - -c
    - 'echo Ready; while read -r line; do echo "You typed: $line"; done'
`

// Without a built image the platform in the cluster has no pages.
;(hasCluster && canBuildImage ? describe : describe.skip)(
  clusterTitle('the README’s walk in a browser, with the built image'),
  () => {
    let database: Awaited<ReturnType<typeof startEmbeddedPostgres>>
    const directory = useTemporaryDirectory()
    let platform: PlatformInCluster

    beforeAll(async () => {
      await buildPlatformImage()
      const postgres = join(directory(), 'postgres')
      mkdirSync(postgres)
      database = await startEmbeddedPostgres(postgres, 'databases', pino({ level: 'silent' }))
      // By port, which Pods reach, instead of by socket.
      const url = new URL(database.adminUrl)
      url.search = ''
      platform = await startInCluster(url.href)
    }, 600_000 + IN_CLUSTER_MS)
    afterAll(async () => {
      await platform?.stop()
      await database?.stop()
      // The image has hundreds of megabytes.
    }, 300_000)

    test('a user registers, creates a deployment and types in its console while each replica is lost in turn', async () => {
      const first = await platform.ready()
      const link = /http\S+(\/register\?invite=\S+)/.exec(await platform.kubectl('logs', 'deployment/quarterdeck'))?.[1]
      const { page, errors } = await openPage(`http://${platform.address}`)
      await register(page, { link: link!, username: 'ann', password: 'correct horse battery' })
      await page.getByRole('link', { name: 'Open Quarterdeck' }).click()

      await page.getByRole('link', { name: 'Deployments', exact: true }).click()
      await page.getByRole('button', { name: 'Create Deployment' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('walk')
      await dialog.getByRole('button', { name: 'Process' }).click()
      await dialog.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('link', { name: 'Edit walk', exact: true }).click()
      const editor = page.locator('.ace_text-input')
      await editor.waitFor({ state: 'attached' })
      await editor.focus()
      await page.keyboard.press('Control+A')
      await page.keyboard.insertText(`name: walk\ntype: process\ndataDirectory: /walk\n${PROGRAM}`)
      await page.getByRole('button', { name: 'Save Changes' }).click()
      await page.getByText('Changes saved successfully!').waitFor()
      await page.getByRole('link', { name: 'Back' }).click()
      await page.getByRole('switch', { name: 'walk enabled' }).click()
      await page.getByRole('link', { name: 'Overview', exact: true }).click()
      await page.getByRole('link', { name: /-walk/ }).click()
      await status(page).getByText('Online').waitFor({ timeout: 60_000 })

      const command = page.getByLabel('Command', { exact: true })
      // Again and again: what is typed before the end of a replica is noticed is lost with it.
      const type = (text: string) =>
        until(async () => {
          await page.getByText('Connected', { exact: true }).waitFor({ timeout: 60_000 })
          await command.fill(text)
          await command.press('Enter')
          const answer = page.getByText(`You typed: ${text}`, { exact: true }).first()
          return answer.waitFor({ timeout: 5000 }).then(
            () => true,
            () => false,
          )
        })
      await type('hello')
      for (const { name } of first) {
        await platform.kubectl('delete', 'pod', name, '--grace-period=0', '--force')
        await until(async () => !(await platform.pods()).some((pod) => pod.name === name))
        await type(`after ${name}`)
        await platform.ready()
      }
      await page.getByText('You typed: hello', { exact: true }).first().waitFor()
      // Browsers say of every page without TLS, except on this machine, that they ignore the header.
      expect(errors.filter((text) => !text.startsWith('The Cross-Origin-Opener-Policy header'))).toEqual([])
    })
  },
)
