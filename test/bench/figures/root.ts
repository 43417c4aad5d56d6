import { resolve } from 'node:path'

/** The checkout that is measured: this one, or, with `--against`, that of the other revision. It has a build. */
export const root = resolve(process.env.BENCH_ROOT ?? resolve(__dirname, '../../..'))
