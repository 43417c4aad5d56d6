import { readFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { createTwoFilesPatch } from 'diff'
import { ConfigurationResponse, SavedConfigurationResponse } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { Done } from '../../contract/envelope'
import { dataOf, type Api } from '../api/client'
import { CliError, EXIT } from '../failure'
import type { Session } from '../session'
import { confirm, isInteractive } from '../terminal/prompts'
import type { Terminal } from '../terminal/terminal'

interface ApplyOptions {
  /** `-` for standard input. */
  file: string
  yes: boolean
  dryRun: boolean
}

/** Creates or changes a deployment to match its definition. @returns the exit code */
export async function apply({ terminal, api }: Session, { file, yes, dryRun }: ApplyOptions): Promise<number> {
  const content = await readDefinitionFile(file)
  const read = readDefinition(content)
  if ('problem' in read) {
    const problems = [read.problem, ...(read.others ?? [])]
    throw new CliError(EXIT.failed, problems.map(({ message }) => `${file}: ${message}`).join('\n'))
  }
  const { definition } = read
  const stored = await storedConfiguration(api, definition.name)
  const action = actionFor(content, stored)
  const printResult = (warnings: string[] = []) => {
    for (const warning of warnings) terminal.note(`Warning: ${warning}`)
    if (terminal.isJson) terminal.json({ deployment: definition.name, action, dryRun, warnings })
  }
  if (action === 'unchanged') {
    printResult()
    if (!terminal.isJson) terminal.line(`${definition.name} is unchanged.`)
    return EXIT.ok
  }
  if (!terminal.isJson) printDiff(terminal, definition.name, stored?.content ?? '', content)
  if (dryRun) {
    printResult()
    return EXIT.wouldChange
  }
  if (!yes) await requireConfirmation(file, `${stored ? 'Change' : 'Create'} ${definition.name}?`)
  const warnings = await save(api, definition, content, stored)
  printResult(warnings)
  if (!terminal.isJson)
    terminal.line(
      stored
        ? `${definition.name} was changed. Apply it to running instances with: quarterdeck restart ${definition.name}`
        : `${definition.name} was created. Start it with: quarterdeck start ${definition.name}`,
    )
  return EXIT.ok
}

function actionFor(content: string, stored: Stored | undefined): 'created' | 'updated' | 'unchanged' {
  if (!stored) return 'created'
  return stored.content === content ? 'unchanged' : 'updated'
}

/** @throws CliError if the user declines, or there is no terminal to ask on */
async function requireConfirmation(file: string, question: string): Promise<void> {
  if (file === '-' || !isInteractive())
    throw new CliError(
      EXIT.usage,
      'Not applied: there is no terminal to confirm it. Add --yes to apply it, or --dry-run to only show the changes.',
    )
  if (!(await confirm(question))) throw new CliError(EXIT.failed, 'Nothing was changed.')
}

async function readDefinitionFile(file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(EXIT.failed, `${file} cannot be read: ${error.message}`)
  })
}

type Stored = { content: string; revision?: string }

/** @returns undefined if there is no such deployment */
async function storedConfiguration(api: Api, name: string): Promise<Stored | undefined> {
  const result = await api.calls.GET('/api/deployments/{name}', { params: { path: { name } } })
  return result.response.status === 404 && result.error ? undefined : dataOf(result, ConfigurationResponse)
}

/** @returns warnings. @throws CliError CONFLICT if somebody else has changed it since it was read */
async function save(
  api: Api,
  {
    name,
    type,
    node,
  }: { name: string; type: 'proxy' | 'persistent' | 'scalable' | 'process'; node?: string | undefined },
  content: string,
  stored: Stored | undefined,
): Promise<string[]> {
  if (!stored) dataOf(await api.calls.POST('/api/deployments', { body: { name, type, ...(node && { node }) } }), Done)
  const body = { content, ...(stored?.revision !== undefined && { revision: stored.revision }) }
  const saved = await api.calls.PATCH('/api/deployments/{name}', { params: { path: { name } }, body })
  try {
    return dataOf(saved, SavedConfigurationResponse).warnings ?? []
  } catch (error) {
    if (stored || saved.response.ok || !(error instanceof CliError)) throw error
    throw new CliError(EXIT.failed, `${name} was created, but without its definition: ${error.message} Apply it again.`)
  }
}

const COLOUR = { '+': 32, '-': 31, '@': 36 } as Record<string, number | undefined>

function printDiff(terminal: Terminal, name: string, before: string, after: string): void {
  const patch = createTwoFilesPatch(`${name} (stored)`, `${name} (new)`, before, after, '', '', { context: 3 })
  for (const line of patch.trimEnd().split('\n')) {
    if (line.startsWith('====')) continue
    const colour = COLOUR[line[0] ?? '']
    // Escape characters are removed, because a definition has no colours of its own.
    const plain = line.replaceAll('\u001b', '')
    terminal.coloured(colour === undefined ? plain : `\u001b[${colour}m${plain}\u001b[0m`)
  }
}
