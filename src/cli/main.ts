#!/usr/bin/env node
import { CliError, EXIT } from './failure'
import { commandOf, runProgram } from './program'
import { plainText } from './terminal/text'

// Ctrl+C is the normal end of following a console.
const args = process.argv.slice(2)
if (commandOf(args) === 'logs') process.once('SIGINT', () => process.exit(EXIT.ok))

runProgram(args).then(
  (exitCode) => {
    process.exitCode = exitCode
  },
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    for (const line of message.split('\n')) if (line !== '') process.stderr.write(`quarterdeck: ${plainText(line)}\n`)
    process.exitCode = error instanceof CliError ? error.exitCode : EXIT.failed
  },
)
