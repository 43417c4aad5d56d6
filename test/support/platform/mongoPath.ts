import { delimiter } from 'node:path'
import { folder as ferretdbFolder } from '../ferretdbProgram'
import { hasProgram } from './hasProgram'

/** A PATH with a MongoDB server: the machine's mongod, otherwise the FerretDB that was built for the tests. */
export const mongoPath: string | undefined = hasProgram('mongod')
  ? process.env.PATH
  : ferretdbFolder() && [ferretdbFolder(), process.env.PATH].join(delimiter)
