/** Pages by the second key after `g`. */
export const GO_TO: Record<string, { path: string; label: string }> = {
  o: { path: '/', label: 'Overview' },
  d: { path: '/deployments', label: 'Deployments' },
  f: { path: '/files', label: 'Files' },
  b: { path: '/databases', label: 'Databases' },
  c: { path: '/consoles', label: 'Consoles' },
  a: { path: '/admin', label: 'Admin' },
}

/** How long the second key of a sequence may take. */
export const SEQUENCE_MS = 1500

const ELSEWHERE: [keys: string[], effect: string][] = [
  [['/'], 'Search the list of this page'],
  [['c'], 'Go to the command line of a console'],
  [['j'], 'Next row of a list'],
  [['k'], 'Previous row of a list'],
  [['?'], 'Show the shortcuts'],
]

/** The shortcuts without Ctrl or Cmd, as a user reads them. */
export const SINGLE_KEY_SHORTCUTS: [keys: string[], effect: string][] = [
  ...Object.entries(GO_TO).map(([key, { label }]): [string[], string] => [['g', key], `Go to ${label}`]),
  ...ELSEWHERE,
]

/** Shortcuts that always work. */
export const MODIFIED_SHORTCUTS: [keys: string[], effect: string][] = [
  [['Ctrl or Cmd', 'K'], 'Find a page, deployment, instance or action'],
  [['Ctrl or Cmd', 'S'], 'Save the open editor'],
  [['Ctrl', 'Shift', 'L'], 'Export the action log'],
  [['Alt', '1 – 4'], 'On Consoles: select or deselect a console'],
  [['Alt', 'Shift', '1 – 4'], 'On Consoles: select one console only'],
  [['Alt', '0'], 'On Consoles: select all consoles'],
]
