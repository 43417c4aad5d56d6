import type { Page } from 'playwright-core'

/** One step: a button or menu item to press, by its accessible name, or any other action. */
type Step = string | RegExp | ((page: Page) => Promise<void>)

/** The steps from a page, with the sample network, to each dialog and menu, by the name of its pictures. */
export const DIALOGS: Record<string, { path: string; steps: Step[] }> = {
  palette: { path: '/', steps: [(page) => page.keyboard.press('Control+k')] },
  shortcuts: { path: '/', steps: [(page) => page.keyboard.press('?')] },
  'user-menu': { path: '/', steps: [openUserMenu] },
  'deployment-menu': { path: '/', steps: [/^Actions for /] },
  'disable-deployment': { path: '/', steps: [/^Actions for /, /^Disable/] },
  problems: { path: '/', steps: [/^Problems/] },
  password: { path: '/', steps: [openUserMenu, 'Change password'] },
  sessions: { path: '/', steps: [openUserMenu, 'Your sessions'] },
  export: { path: '/', steps: [openUserMenu, 'Export action log'] },
  'create-deployment': { path: '/deployments', steps: ['Create Deployment'] },
  'delete-deployment': { path: '/deployments', steps: [inRow(/^Delete/)] },
  'restart-deployment': { path: '/deployments', steps: [inRow(/^Restart/)] },
  changes: { path: '/deployments/survival/edit', steps: [typeInEditor, 'Show changes'] },
  'configuration-conflict': { path: '/deployments/events/edit', steps: [typeInEditor, saveElsewhere, 'Save Changes'] },
  leave: { path: '/deployments/survival/edit', steps: [typeInEditor, /^(?:Back|Deployments)/] },
  metrics: { path: 'instance:survival', steps: ['Metrics'] },
  details: { path: 'instance:survival', steps: ['Details'] },
  kill: { path: 'instance:survival', steps: ['Kill'] },
  'pick-console': { path: '/consoles', steps: ['Choose Consoles'] },
  'row-menu': { path: '/files/survival', steps: [/^Actions for /] },
  rename: { path: '/files/survival', steps: [/^Actions for /, 'Rename'] },
  'delete-entries': { path: '/files/survival', steps: [/^Actions for /, /^Delete/] },
  'create-entry': { path: '/files/survival', steps: ['Create New'] },
  move: { path: '/files/survival', steps: [selectFirst, 'Move'] },
  'upload-conflict': { path: '/files/survival', steps: [uploadAgain] },
  'sort-menu': { path: '/files/survival', steps: [/^Sort/] },
  editor: { path: '/files/survival', steps: [/\.(?:properties|yml|json)$/] },
  'create-database': { path: '/databases', steps: ['Create SQL database'] },
  'reset-database': { path: '/databases', steps: [/^Reset password of/] },
  'delete-database': { path: '/databases', steps: [/^Delete /] },
  'create-invite': { path: '/admin?tab=invites', steps: ['Create Invite Code'] },
  'delete-invite': { path: '/admin?tab=invites', steps: [/^Delete the invite code/] },
  'reset-password': { path: '/admin', steps: [/^Actions for /, 'Reset password'] },
  'delete-user': { path: '/admin', steps: [/^Actions for kofi/, /^Delete/] },
  user: { path: '/admin/users/2', steps: [] },
  'end-session': { path: '/admin/users/2', steps: [/^End the session of/] },
  'create-key': { path: '/keys', steps: ['Create API key'] },
  'created-key': { path: '/keys', steps: ['Create API key', typeName, 'Create'] },
  'delete-key': { path: '/keys', steps: [/^Delete the API key/] },
  'add-authenticator': { path: '/security', steps: [/^Add.*app/] },
  'recovery-codes': { path: '/security', steps: [/^Create (?:new )?codes/] },
}

/** Presses a button of the first row, which stands in a menu where there is little room. */
function inRow(name: RegExp): Step {
  return async (page) => {
    const menu = page.getByRole('button', { name: /^Actions for / }).filter({ visible: true })
    if ((await menu.count()) > 0) await menu.first().click()
    await press(page, name)
  }
}

/** In a narrow window, the user menu stands in the sheet of the header. */
async function openUserMenu(page: Page): Promise<void> {
  const sheet = page.getByRole('button', { name: 'Menu', exact: true }).filter({ visible: true })
  if ((await sheet.count()) > 0) await sheet.click()
  await press(page, 'Your account')
}

async function press(page: Page, step: string | RegExp): Promise<void> {
  const name = typeof step === 'string' ? { name: step, exact: true } : { name: step }
  const control = page
    .getByRole('button', name)
    .or(page.getByRole('menuitem', name))
    .or(page.getByRole('link', name))
    .or(page.getByRole('tab', name))
  await control.filter({ visible: true }).first().click({ timeout: 5000 })
}

async function typeInEditor(page: Page): Promise<void> {
  await page.locator('.ace_text-input').focus()
  await page.keyboard.type('# ')
}

async function selectFirst(page: Page): Promise<void> {
  await page
    .getByRole('checkbox', { name: /^Select (?!all)/ })
    .first()
    .check()
}

/** Uploads a file whose name is taken. */
async function uploadAgain(page: Page): Promise<void> {
  const file = { name: 'server.properties', mimeType: 'text/plain', buffer: Buffer.from('motd=Hello\n') }
  await page.getByLabel('Files to upload').setInputFiles(file)
}

async function typeName(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Pictures')
}

/** Saves the configuration that is being edited, as another operator would. */
async function saveElsewhere(page: Page): Promise<void> {
  const token = (await page.context().cookies()).find(({ name }) => name === 'token')?.value
  const url = `/api/deployments/${page.url().split('/').at(-2)}`
  const headers = { authorization: `Bearer ${token}` }
  const { data } = (await (await page.request.get(url, { headers })).json()) as { data: { content: string } }
  await page.request.patch(url, { headers, data: { content: `${data.content}\n` } })
}

/** Takes the steps to a dialog. @throws if a button does not appear within 5 s */
export async function openDialog(page: Page, steps: Step[]): Promise<void> {
  for (const step of steps) {
    await (typeof step === 'function' ? step(page) : press(page, step))
    // Menus and dialogs are positioned after they have been rendered.
    await page.waitForTimeout(250)
  }
}
