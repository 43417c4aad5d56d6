/** The values that samples of calls and of actions share. */

export const grants = [{ deployment: 'lobby', rights: ['view', 'console'] }]
export const path = '/nfsshare/plugins/notes.txt'
export const ref = { path, name: 'notes.txt', type: '-' }
export const named = { type: 'sql', name: 'shop' }
export const content =
  'name: lobby\ntype: process\ndescription: The first world\ndataDirectory: /lobby\nnode: one\n' +
  'run:\n  command: ["node", "-e", "run"]\n  env: { KEY: value }\nready: Done\n# a comment\n'
