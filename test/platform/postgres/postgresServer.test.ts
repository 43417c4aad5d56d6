import { join } from 'node:path'
import { postgresProgram, type ServerOptions } from '../../../src/platform/postgres/postgresServer'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

test('a server that cannot store another port keeps its own, which connection URLs name after the next start', async () => {
  const cluster = { port: 15_432 } as ServerOptions['cluster']
  const clusterFile = join(directory(), 'missing', 'cluster.json')
  const program = postgresProgram({ cluster, clusterFile, usedPorts: new Set<number>() } as ServerOptions)
  await expect(program.prepare(2)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(cluster.port).toBe(15_432)
})
