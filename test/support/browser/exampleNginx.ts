import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDeployFile } from '../platform/deployFiles'
import { freePort } from '../platform/freePort'
import { until } from '../platform/until'
import type { PathProxy } from './pathProxy'

/** The site of the example below a path, as its comments say, without TLS. */
function siteOf(path: string, port: number, target: number): string {
  const upstream = /upstream quarterdeck \{[^}]*\}/.exec(readDeployFile('nginx.conf'))?.[0] ?? ''
  const map = /^map [^}]*\}/m.exec(readDeployFile('nginx.conf'))?.[0] ?? ''
  const location = /location \/ (\{[^}]*\})/.exec(readDeployFile('nginx.conf'))?.[1] ?? ''
  return `${map}
${upstream.replace('127.0.0.1:8080', `127.0.0.1:${target}`)}
server {
  listen 127.0.0.1:${port};
  client_max_body_size 0;
  location ${path}/ ${location}
  location = ${path} { return 308 ${path}/; }
  location / { access_log strays.log path; return 404; }
}`
}

/**
 * Starts nginx with the example of `src/deploy` in front of a server of this machine.
 * @param target port of the other server
 */
export async function startExampleNginx(path: string, target: number): Promise<PathProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-nginx-'))
  const strays = join(directory, 'strays.log')
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`)
  const http = `log_format path '$request_uri'; access_log off; ${temporary.join(' ')}\n${siteOf(path, port, target)}`
  const main = join(directory, 'nginx.conf')
  writeFileSync(main, `daemon off; pid nginx.pid; error_log stderr crit;\nevents {}\nhttp {\n${http}\n}\n`)
  const nginx = spawn('nginx', ['-p', directory, '-c', main], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(nginx, 'exit')
  await until(
    () => fetch(origin).catch(() => undefined),
    (answer) => answer !== undefined,
  )
  return {
    origin,
    get strays() {
      const asked = readFileSync(strays, 'utf8').split('\n')
      return asked.filter((uri) => !['', '/', '/favicon.ico'].includes(uri))
    },
    async close() {
      nginx.kill('SIGTERM')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
