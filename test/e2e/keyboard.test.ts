import type { Locator, Page } from 'playwright-core'
import { browserTest } from '../support/browser/browserTest'
import { useInstancePages } from '../support/browser/instancePages'

const { signedIn, run } = useInstancePages()

/** The page, used by the keyboard alone. Counts the keys except the letters of texts. */
class Keyboard {
  keys = 0
  constructor(readonly page: Page) {}

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await this.page.keyboard.press(key)
      this.keys += 1
    }
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.type(text)
  }

  /** Presses Tab, or another key, until a control with this name has the focus. */
  async reach(name: RegExp | string, key = 'Tab'): Promise<void> {
    for (let presses = 0; presses < 40; presses++) {
      if (await isFocused(this.page, name)) return
      await this.press(key)
    }
    throw new Error(`${key} does not lead to ${String(name)}`)
  }

  /** Chooses a command of the palette. */
  async choose(words: string, found: RegExp | string): Promise<void> {
    await this.press('Control+k')
    await this.page.locator('input[role=combobox]:focus').waitFor()
    await this.type(words)
    await this.page.getByRole('option', { name: found, selected: true }).waitFor()
    await this.press('Enter')
  }
}

const isFocused = async (page: Page, name: RegExp | string) => {
  const focused = page.locator(':focus')
  if ((await focused.count()) === 0) return false
  // What a screen reader says.
  const [first = ''] = (await focused.ariaSnapshot()).split('\n')
  const said = /"((?:[^"\\]|\\.)*)"/.exec(first)?.[1] ?? ''
  return typeof name === 'string' ? said === name : name.test(said)
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

/** A task of an operator: the limit of its keys besides texts, what is done, and what then is there. */
type Task = [
  title: string,
  keys: number,
  act: (keyboard: Keyboard) => Promise<void>,
  seen: (keyboard: Keyboard) => Locator,
]

const TASKS: Task[] = [
  ['open Deployments', 2, (k) => k.press('g', 'd'), ({ page }) => heading(page, 'Deployments')],
  [
    'create a deployment',
    9,
    async (k) => {
      await k.reach('Create Deployment')
      await k.press('Enter')
      await k.type('island')
      await k.reach(/^Scalable/)
      await k.press('Space')
      await k.reach('Create')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('region', { name: 'Three steps to start island' }),
  ],
  [
    'open its configuration',
    2,
    (k) => k.choose('island conf', 'island configuration'),
    ({ page }) => heading(page, 'island'),
  ],
  [
    'set its command',
    9,
    async (k) => {
      await k.page.locator('.ace_content').waitFor()
      await k.reach(/^Editor content/)
      await k.press('Enter')
      await k.press('Control+a')
      await k.type('name: island\ntype: scalable\ndataDirectory: /island\nrun: { command: [sleep, "600"] }\n')
      await k.press('Control+s')
    },
    ({ page }) => page.getByText('Changes saved successfully!', { exact: true }),
  ],
  ['enable it', 2, (k) => k.choose('island enable', 'island enable'), ({ page }) => page.getByText(/enabled/)],
  [
    'open an instance',
    2,
    (k) => k.choose('-harbour', /-harbour Online/),
    ({ page }) => page.getByText('Connected', { exact: true }),
  ],
  [
    'send a command',
    2,
    async (k) => {
      await k.press('c')
      await k.type('print 300')
      await k.press('Enter')
    },
    ({ page }) => page.getByText('line 300', { exact: true }),
  ],
  [
    'send it again',
    2,
    (k) => k.press('ArrowUp', 'Enter'),
    ({ page }) => page.getByRole('textbox', { name: 'Command' }),
  ],
  [
    'search the console',
    2,
    async (k) => {
      await k.press('Control+f')
      await k.type('line 42')
      await k.press('Enter')
    },
    ({ page }) => page.getByText(/^\d+ of \d+$/),
  ],
  ['leave the search', 1, (k) => k.press('Escape'), ({ page }) => page.getByRole('textbox', { name: 'Command' })],
  [
    'restart a deployment',
    6,
    async (k) => {
      await k.choose('harbour restart', 'harbour restart')
      await k.page.getByRole('dialog').getByText('Restart 1 instance of harbour?').waitFor()
      await k.reach('Restart')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('button', { name: /^Jump to bottom \(\d+ new\)/ }),
  ],
  [
    'show the metrics of the last hour',
    16,
    async (k) => {
      await k.reach('Console', 'Shift+Tab')
      await k.press('ArrowRight')
      await k.page.getByRole('button', { name: '1 hour' }).waitFor()
      await k.reach('1 hour')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('button', { name: '1 hour', pressed: true }),
  ],
  [
    'open the files of a deployment',
    2,
    (k) => k.choose('/harbour', '/harbour files'),
    ({ page }) => page.getByRole('row', { name: /main.js/ }),
  ],
  [
    'create a file',
    6,
    async (k) => {
      await k.reach('Create New')
      await k.press('Enter')
      await k.type('notes.txt')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('row', { name: /notes.txt/ }),
  ],
  [
    'write into it',
    4,
    async (k) => {
      await k.press('j', 'j')
      await k.press('Enter')
      await k.page.locator('.ace_text-input:focus').waitFor()
      await k.type('remember')
      await k.press('Control+s')
    },
    ({ page }) => page.getByRole('dialog').getByText('Saved', { exact: true }),
  ],
  ['close it', 2, (k) => k.press('Escape', 'Escape'), ({ page }) => page.locator('body:not(:has([role=dialog]))')],
  [
    'rename it',
    3,
    async (k) => {
      await k.press('F2')
      await k.press('Control+a')
      await k.type('read me.txt')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('row', { name: /read me.txt/ }),
  ],
  [
    'make an archive of it',
    7,
    async (k) => {
      await k.reach(/^Actions for read me/)
      await k.press('Enter')
      await k.reach('Archive', 'ArrowDown')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('row', { name: /read me.txt\./ }),
  ],
  [
    'delete it',
    9,
    async (k) => {
      await k.press('Enter')
      await k.reach('Delete', 'ArrowDown')
      await k.press('Enter')
      await k.page.getByRole('dialog').waitFor()
      await k.reach('Delete')
      await k.press('Enter')
    },
    ({ page }) => page.locator('body:not(:has([data-path$="read me.txt"]))'),
  ],
  [
    'filter the files',
    1,
    async (k) => {
      await k.press('/')
      await k.type('main')
    },
    ({ page }) => page.getByRole('row', { name: /main.js/ }),
  ],
  [
    'open the directory above',
    2,
    (k) => k.press('Shift+Tab', 'Enter'),
    ({ page }) => page.getByRole('row', { name: /harbour/ }),
  ],
  ['open Databases', 2, (k) => k.press('g', 'b'), ({ page }) => heading(page, 'Databases')],
  [
    'create a database',
    4,
    async (k) => {
      await k.reach('Create SQL database')
      await k.press('Enter')
      await k.type('shop')
      await k.press('Enter')
    },
    ({ page }) => page.getByRole('article', { name: 'shop' }),
  ],
  [
    'invite a user',
    8,
    async (k) => {
      await k.press('g', 'a')
      await heading(k.page, 'Administration').waitFor()
      await k.reach('Invite')
      await k.press('Enter')
      await k.type('for bob')
      await k.press('Enter')
    },
    ({ page }) => page.getByText('for bob'),
  ],
  ['open the activity log', 2, (k) => k.choose('activity', 'Activity'), ({ page }) => heading(page, 'Activity')],
  [
    'look for the actions on a deployment',
    1,
    async (k) => {
      await k.press('/')
      await k.type('island')
    },
    ({ page }) => page.getByText('island').first(),
  ],
  [
    'use the dark theme',
    2,
    (k) => k.choose('dark', 'Use the dark theme'),
    ({ page }) => page.locator('html[data-bs-theme=dark]'),
  ],
  [
    'open the overview',
    3,
    async (k) => {
      await k.press('Escape', 'Control+k')
      await k.type('overview')
      await k.press('Enter')
    },
    ({ page }) => heading(page, 'Network Overview'),
  ],
  [
    'find an instance there',
    1,
    async (k) => {
      await k.press('/')
      await k.type('isl')
    },
    ({ page }) => page.locator('body:not(:has(a:has-text("-harbour")))').getByRole('link', { name: /-island Online/ }),
  ],
  [
    'disable a deployment',
    6,
    async (k) => {
      await k.choose('island disable', 'island disable')
      await k.page.getByRole('dialog').getByText('Disable').first().waitFor()
      await k.reach('Disable')
      await k.press('Enter')
    },
    ({ page }) => page.getByText(/disabled/),
  ],
  ['see the problems', 2, (k) => k.choose('problems', 'Show problems'), ({ page }) => page.getByRole('dialog')],
  [
    'log out',
    3,
    async (k) => {
      await k.press('Escape')
      await k.choose('log out', 'Log out')
    },
    ({ page }) => heading(page, 'Sign In'),
  ],
]

browserTest(
  'an operator can do thirty-two tasks with the keyboard alone, with few keys each',
  async () => {
    const { page, errors } = await signedIn()
    await run(page, 'harbour')
    await page.goto('/')
    await heading(page, 'Network Overview').waitFor()
    for (const [title, limit, act, seen] of TASKS) {
      const keyboard = new Keyboard(page)
      try {
        await act(keyboard)
        await seen(keyboard).first().waitFor()
        expect(keyboard.keys).toBeLessThanOrEqual(limit)
      } catch (error) {
        if (error instanceof Error) error.message = `To ${title} with ${keyboard.keys} keys: ${error.message}`
        throw error
      }
    }
    expect(errors).toEqual([])
  },
  240_000,
)
