import yargs, { type Argv } from 'yargs'
import { apply } from './commands/apply'
import { completeNames, printCompletion } from './commands/completion'
import { copy } from './commands/copy/copy'
import { createDatabase } from './commands/database'
import { logs } from './commands/logs'
import { power, type PowerCommand } from './commands/power'
import { ps } from './commands/ps'
import { send } from './commands/send'
import { login, logout } from './commands/signIn'
import { packageVersion, printVersion } from './commands/version'
import { CliError, EXIT } from './failure'
import { openSession } from './session'
import { createTerminal } from './terminal/terminal'

/** Receives the exit code of the executed command. */
interface Result {
  exitCode: number
}

/** The option with which a shell's completion script requests the words that may follow. */
const COMPLETION = '--get-yargs-completions'
/** Options with a value, of all commands. The library makes a list of a repeated one. */
const SINGLE_OPTIONS = ['server', 'key-file', 'lines', 'file']
const EPILOGUE = `The key is read from QUARTERDECK_KEY and the address from QUARTERDECK_SERVER where they are set.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not signed in, 4 not allowed, 5 not found, 6 server not reachable,
7 apply --dry-run would change something, 130 interrupted.`

/** The name of the command. The options of all commands have no values, and may come before it. */
export const commandOf = (args: string[]) => args.find((arg) => !arg.startsWith('-'))

/**
 * Runs the command that the arguments name.
 * @returns the exit code. @throws CliError
 */
export async function runProgram(args: string[]): Promise<number> {
  const result: Result = { exitCode: EXIT.ok }
  // The shell calls `quarterdeck --get-yargs-completions quarterdeck logs …`. yargs completes everything except the
  // names.
  const isCompletion = args[0] === COMPLETION
  const names = isCompletion ? await completeNames(args.slice(2)) : undefined
  if (names) {
    const terminal = createTerminal(false)
    for (const name of names) terminal.line(name)
    return EXIT.ok
  }
  const { ownArgs, words } = splitSend(args)
  const program = yargs(ownArgs)
    .scriptName('quarterdeck')
    .usage('$0 <command>\n\nThe command line of a Quarterdeck console.')
    .option('json', { type: 'boolean', default: false, describe: 'Print JSON', global: true })
    .parserConfiguration({ 'parse-positional-numbers': false })
    .detectLocale(false)
    .version(packageVersion())
    .alias('version', 'V')
    .help()
    .alias('help', 'h')
    .recommendCommands()
    .epilogue(EPILOGUE)
    .wrap(Math.min(110, process.stdout.columns || 100))
    // yargs must exit after a completion. Otherwise it would run the typed command.
    .exitProcess(isCompletion)
    .demandCommand(1, 'Name a command.')
    // A command that is still being typed is incomplete.
    .strict(!isCompletion)
    .strictCommands(!isCompletion)
    .check((values) => {
      const repeated = SINGLE_OPTIONS.find((name) => Array.isArray(values[name]))
      return repeated === undefined || `--${repeated} may be given once.`
    })
    .fail((message: string | null, error) => {
      // The library has a message for wrong usage, with or without an error of its own, and none for a failed command.
      if (error instanceof CliError || message === null) throw error
      throw new CliError(EXIT.usage, usageText(message, args))
    })
  addSignIn(program)
  addConsoles(program, words)
  addPower(program)
  addChanges(program, result)
  addOthers(program)
  await program.parseAsync()
  return result.exitCode
}

/**
 * Splits the arguments of `send`: what follows the instance is the console command, which may contain words that are
 * options here, such as -h. Only a first `--` is left out. A placeholder tells yargs that there is a command.
 */
function splitSend(args: string[]): { ownArgs: string[]; words: string[] } {
  const instanceAt = args.findIndex((arg, at) => !arg.startsWith('-') && at > args.indexOf('send'))
  if (commandOf(args) !== 'send' || instanceAt === -1) return { ownArgs: args, words: [] }
  const words = args.slice(instanceAt + (args[instanceAt + 1] === '--' ? 2 : 1))
  return { ownArgs: [...args.slice(0, instanceAt + 1), ...(words.length > 0 ? ['words'] : [])], words }
}

/** What is wrong, and the call that prints the help of the command in use. */
function usageText(message: string, args: string[]): string {
  const [command = '-'] = args
  const nearest = /^Did you mean (\S+)\?$/.exec(message)?.[1]
  if (nearest !== undefined) return unknownCommandText(args, nearest)
  const isKnown = !command.startsWith('-') && message !== `Unknown command: ${command}`
  const withoutValue = /^Not enough arguments following: (\S+)$/.exec(message)?.[1]
  let said = message
  // The library counts arguments instead of naming them. The help names them.
  if (message.startsWith('Not enough non-option arguments')) said = 'An argument is missing.'
  if (withoutValue !== undefined) said = `${withoutValue.length === 1 ? '-' : '--'}${withoutValue} needs a value.`
  return `${said}\nSee: quarterdeck ${isKnown ? `${command} ` : ''}--help`
}

/** For short words, yargs finds commands that have nothing in common. A typing error keeps the first letter. */
function unknownCommandText(args: string[], nearest: string): string {
  const [command = '', subcommand = ''] = args.filter((arg) => !arg.startsWith('-'))
  const isOfGroup = command === 'db'
  const unknown = isOfGroup ? subcommand : command
  const hint = nearest[0] === unknown[0] ? `. Did you mean "${nearest}"?` : ''
  return `Unknown command: ${unknown}${hint}\nSee: quarterdeck ${isOfGroup ? 'db ' : ''}--help`
}

function addSignIn(program: Argv<{ json: boolean }>): void {
  program.command(
    'login',
    'Sign in with an API key, which is made on the console’s page',
    (options) =>
      options
        .option('server', { type: 'string', requiresArg: true, describe: 'Address, such as https://example.com/panel' })
        .option('key-file', {
          type: 'string',
          requiresArg: true,
          describe: 'Read the key from a file; - is standard input',
        }),
    ({ json, server, keyFile }) => login({ json, server, keyFile }),
  )
  program.command(
    'logout',
    'Remove the stored key',
    (options) => options,
    ({ json }) => logout(json),
  )
}

/** @param words the console command of `send` */
function addConsoles(program: Argv<{ json: boolean }>, words: string[]): void {
  program.command(
    'ps [deployment..]',
    'List deployments and instances',
    (options) => options.positional('deployment', { type: 'string', array: true, default: [] as string[] }),
    async ({ json, deployment }) => ps(await openSession(json), deployment),
  )
  program.command(
    'logs <instance>',
    'Print the console of an instance',
    (options) =>
      options
        .positional('instance', { type: 'string', demandOption: true })
        .option('follow', { alias: 'f', type: 'boolean', default: false, describe: 'Print new lines as they arrive' })
        .option('lines', {
          alias: 'n',
          type: 'number',
          default: 100,
          requiresArg: true,
          describe: 'Number of earlier lines to print first',
        })
        .check(({ lines }) => (Number.isInteger(lines) && lines >= 0) || '--lines must be a number such as 100'),
    async ({ json, instance, follow, lines }) => logs(await openSession(json), { name: instance, follow, lines }),
  )
  program.command(
    'send <instance> <words..>',
    'Send a command to the console of an instance',
    (options) =>
      options.positional('instance', { type: 'string', demandOption: true }).positional('words', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'The command: all that follows',
      }),
    async ({ json, instance }) => send(await openSession(json), instance, words.join(' ')),
  )
}

function addPower(program: Argv<{ json: boolean }>): void {
  const commands: Record<PowerCommand, string> = {
    start: 'Start an instance, or enable a deployment',
    stop: 'Stop an instance, or disable a deployment',
    restart: 'Restart an instance, or the instances of a deployment one after the other',
    drain: 'Wait until the players have left, then stop',
  }
  for (const [command, description] of Object.entries(commands) as [PowerCommand, string][])
    program.command(
      `${command} <name>`,
      description,
      (options) =>
        options
          .positional('name', { type: 'string', demandOption: true, describe: 'An instance or a deployment' })
          .option('wait', { type: 'boolean', default: true, describe: 'Wait for the result; --no-wait does not' }),
      async ({ json, name, wait }) => power(await openSession(json), command, { name, wait }),
    )
}

function addChanges(program: Argv<{ json: boolean }>, result: Result): void {
  program.command(
    'apply',
    'Create or change a deployment from a definition',
    (options) =>
      options
        .option('file', {
          alias: 'f',
          type: 'string',
          demandOption: true,
          requiresArg: true,
          describe: 'The definition (YAML); - is standard input',
        })
        .option('yes', { alias: 'y', type: 'boolean', default: false, describe: 'Do not ask for confirmation' })
        .option('dry-run', { type: 'boolean', default: false, describe: 'Only print what would change' }),
    async ({ json, file, yes, dryRun }) => {
      result.exitCode = await apply(await openSession(json), { file, yes, dryRun })
    },
  )
  program.command(
    'cp <from> <to>',
    'Copy files and directories; a path of the server is remote:/lobby/plugins',
    (options) =>
      options
        .positional('from', { type: 'string', demandOption: true })
        .positional('to', { type: 'string', demandOption: true }),
    async ({ json, from, to }) => copy(await openSession(json), from, to),
  )
  program.command('db', 'Databases', (db) =>
    db
      .command(
        'create <type> <name>',
        'Create a database and print its credentials',
        (options) =>
          options
            .positional('type', { choices: ['sql', 'mongo'] as const, demandOption: true })
            .positional('name', { type: 'string', demandOption: true }),
        async ({ json, type, name }) => createDatabase(await openSession(Boolean(json)), type, name),
      )
      .demandCommand(1, 'Name a command: quarterdeck db create'),
  )
}

function addOthers(program: Argv<{ json: boolean }>): void {
  program.command(
    'completion <shell>',
    'Print the completion script of a shell: source <(quarterdeck completion bash)',
    (options) => options.positional('shell', { choices: ['bash', 'zsh'] as const, demandOption: true }),
    ({ shell }) => printCompletion(shell),
  )
  program.command(
    'version',
    'Print the version of this command line',
    (options) => options,
    ({ json }) => printVersion(json),
  )
}
